#!/usr/bin/env bash
# Index a folder into a library as an array of Slurm, without Ray:
#
#   N=20; job=$(sbatch --parsable --array=1-$N deploy/slurm.sh /data/videos /data/library $N)
#   sbatch --dependency=afterany:$job --wrap 'rag index --commit-staged --library /data/library'
#
# A task that was cancelled or ran out of time is submitted again as it was: what is staged is not done again.
#SBATCH --job-name=rag-index
#SBATCH --cpus-per-task=2
#SBATCH --mem=8G
#SBATCH --requeue
set -euo pipefail
corpus=$1 library=$2 shares=$3
export HF_HUB_OFFLINE=1
# 3: done in part; the files that could not be used are listed by the commit.
rag index "$corpus" --library "$library" --shard "$SLURM_ARRAY_TASK_ID/$shares" --stage-only || [ $? -eq 3 ]
