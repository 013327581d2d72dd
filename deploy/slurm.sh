#!/usr/bin/env bash
# Index a folder as an array of Slurm, without Ray: each task into a library of its own, then one merge.
#
#   N=20; job=$(sbatch --parsable --array=1-$N deploy/slurm.sh /data/videos /data/shards $N)
#   sbatch --dependency=afterany:$job --wrap 'rag library merge /data/shards/* --into /data/library'
#
# A task that was cancelled or ran out of time is submitted again as it was, and goes on.
#SBATCH --job-name=rag-index
#SBATCH --cpus-per-task=2
#SBATCH --mem=8G
#SBATCH --requeue
set -euo pipefail
corpus=$1 shards=$2 count=$3
export HF_HUB_OFFLINE=1
# 3: done in part; the files that could not be used are listed.
rag index "$corpus" --library "$shards/$SLURM_ARRAY_TASK_ID" --shard "$SLURM_ARRAY_TASK_ID/$count" || [ $? -eq 3 ]
