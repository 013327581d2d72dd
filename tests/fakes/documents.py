"""Files of passages that a test writes."""

import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, TypeVar

from PIL import Image, ImageDraw, ImageFont
from pypdf import PageObject, PdfWriter
from pypdf.generic import ArrayObject, DecodedStreamObject, DictionaryObject, NameObject, NumberObject

Target = TypeVar("Target", Path, BinaryIO)

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
OPEN = "urn:oasis:names:tc:opendocument:xmlns"
CORE = '<c xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{}</dc:title></c>'


def write_zip(target: Target, parts: Mapping[str, str | bytes]) -> Target:
    """A zip file of parts by name."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as held:
        for name, text in parts.items():
            held.writestr(name, text)
    return target


def word_parts(body: str, *, title: str = "", numbering: str = "") -> dict[str, str]:
    """A Word file. `body` and `numbering`: below the elements of these names, with the prefix w."""
    return {
        "word/document.xml": f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>',
        "word/numbering.xml": f'<w:numbering xmlns:w="{WORD}">{numbering}</w:numbering>',
        "docProps/core.xml": CORE.format(title),
    }


def odt_parts(body: str, *, title: str = "", styles: str = "") -> dict[str, str]:
    """An OpenDocument file, with the prefixes office, text and table."""
    spaces = " ".join(f'xmlns:{name}="{OPEN}:{name}:1.0"' for name in ("office", "text", "table"))
    content = f"<office:automatic-styles>{styles}</office:automatic-styles><office:body>{body}</office:body>"
    return {
        "content.xml": f"<office:document-content {spaces}>{content}</office:document-content>",
        "meta.xml": CORE.format(title),
    }


def pptx_parts(*slides: str) -> dict[str, str]:
    """A PowerPoint file, with the prefix a below each slide."""
    return {
        f"ppt/slides/slide{number}.xml": f'<s xmlns:a="{DRAWING}">{slide}</s>'
        for number, slide in enumerate(slides, start=1)
    }


def epub_parts(title: str, *chapters: str) -> dict[str, str]:
    """A book whose chapters are listed backwards, and read in the order of its spine."""
    places = [f"text/{number} of book.xhtml" for number in range(len(chapters))]
    items = "".join(f'<item id="c{n}" href="{place.replace(" ", "%20")}"/>' for n, place in enumerate(places))
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    head = f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></metadata>'
    return {
        **{f"OEBPS/{place}": text for place, text in reversed([*zip(places, chapters, strict=True)])},
        "META-INF/container.xml": '<c><rootfile full-path="OEBPS/book.opf"/></c>',
        "OEBPS/book.opf": f"<package>{head}<manifest>{items}</manifest><spine>{spine}</spine></package>",
    }


SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def xlsx_parts(**sheets: str) -> dict[str, str]:
    """An Excel file with the rows of each sheet; cells of style 1 are dates."""
    names = "".join(
        f'<sheet name="{name}" sheetId="{at}" r:id="r{at}"/>' for at, name in enumerate(sheets, start=1)
    )
    links = "".join(
        f'<Relationship Id="r{at}" Type="{RELATIONS}/worksheet" Target="worksheets/sheet{at}.xml"/>'
        for at in range(1, len(sheets) + 1)
    )
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    book = f'<workbook xmlns="{SHEET}" xmlns:r="{RELATIONS}"><sheets>{names}</sheets></workbook>'
    formats = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
    main = f'<Relationship Id="r1" Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/>'
    return {
        "_rels/.rels": f'<Relationships xmlns="{package}">{main}</Relationships>',
        "xl/workbook.xml": book,
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}">{links}</Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{SHEET}">{formats}</styleSheet>',
        **{
            f"xl/worksheets/sheet{at}.xml": f'<worksheet xmlns="{SHEET}"><sheetData>{rows}</sheetData>'
            "</worksheet>"
            for at, rows in enumerate(sheets.values(), start=1)
        },
    }


def xlsx_rows(*rows: tuple[str | float, ...]) -> str:
    """Rows of an Excel sheet: texts, numbers, and dates, which are the inside of a cell, as `<v>1</v>`."""
    made = ""
    for number, cells in enumerate(rows, start=1):
        made += f'<row r="{number}">'
        for column, cell in zip("ABCDEFGH", cells, strict=False):
            place = f'r="{column}{number}"'
            if isinstance(cell, float | int):
                made += f"<c {place}><v>{cell}</v></c>"
            elif cell.startswith("<"):
                made += f'<c {place} s="1">{cell}</c>'
            elif cell:
                made += f'<c {place} t="inlineStr"><is><t>{cell}</t></is></c>'
        made += "</row>"
    return made


def ods_parts(rows: str) -> dict[str, str]:
    """An OpenDocument spreadsheet of one sheet, with the prefixes office, text and table."""
    return {
        "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
        "META-INF/manifest.xml": '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
        **odt_parts(
            f'<office:spreadsheet><table:table table:name="S">{rows}</table:table></office:spreadsheet>'
        ),
    }


def _shown(text: str) -> Iterator[str]:
    for row, line in enumerate(text.split("\n")):
        for column, part in enumerate(line.split("\t")):
            yield f"BT /F1 12 Tf {20 + 120 * column} {180 - 14 * row} Td ({part}) Tj ET"


def write_pdf(
    target: Target, pages: Sequence[str | Sequence[str]], *, title: str = "", password: str = ""
) -> Target:
    """A PDF with these lines on each page, tabs between columns, or what draws it; an empty string: none."""
    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for text in pages:
        page = writer.add_blank_page(400, 200)
        fonts = DictionaryObject({NameObject("/F1"): font})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        if text:
            stream = DecodedStreamObject()
            stream.set_data("\n".join(_shown(text) if isinstance(text, str) else text).encode())
            page[NameObject("/Contents")] = writer._add_object(stream)
    if title:
        writer.add_metadata({"/Title": title})
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    writer.write(target)
    return target


def self_drawing_pdf(target: Path, times: int) -> None:
    """A page with the word "Outside" and a form that draws itself so many times."""
    writer = PdfWriter(clone_from=write_pdf(target, ["Outside"]))
    form = DecodedStreamObject()
    form.set_data(b"BT /F1 12 Tf 20 100 Td (Inside) Tj ET" + b" q 1 0 0 1 1 1 cm /X Do Q" * times)
    form.update({NameObject(key): NameObject(name) for key, name in {"/Subtype": "/Form"}.items()})
    form[NameObject("/BBox")] = ArrayObject(map(NumberObject, (0, 0, 400, 200)))
    resources = writer.pages[0]["/Resources"]
    resources[NameObject("/XObject")] = DictionaryObject({NameObject("/X"): writer._add_object(form)})
    form[NameObject("/Resources")] = resources
    drawn = DecodedStreamObject()
    drawn.set_data(b"BT /F1 12 Tf 20 150 Td (Outside) Tj ET /X Do")
    writer.pages[0][NameObject("/Contents")] = writer._add_object(drawn)
    writer.write(target)


A4 = (1654, 2339)
"""Pixels at 200 dpi."""


def page_image(text: str, *, size: tuple[int, int] = A4) -> Image.Image:
    """A gray page with these lines in letters of 32 pixels, tabs between columns."""
    image = Image.new("L", size, 255)
    font = ImageFont.load_default(32)
    for row, line in enumerate(text.split("\n")):
        for column, part in enumerate(line.split("\t")):
            place = (size[0] // 10 + column * size[0] // 4, size[1] // 10 + row * 48)
            ImageDraw.Draw(image).text(place, part, fill=20, font=font)
    return image


def write_scans(target: Target, pages: Sequence[Image.Image | str]) -> Target:
    """A PDF whose pages are images at 200 dpi, as Pillow writes them, or text, as of `write_pdf`."""
    writer = PdfWriter()
    for page in pages:
        held = io.BytesIO()
        if isinstance(page, str):
            write_pdf(held, [page])
        else:
            page.save(held, "PDF", resolution=200)
        writer.append(held)
    writer.write(target)
    return target


def image_object(image: Image.Image, compression: str = "") -> DecodedStreamObject:
    """A gray image for a PDF, its samples as they are, whatever `compression` says."""
    found = DecodedStreamObject()
    names = {"/Subtype": "/Image", "/ColorSpace": "/DeviceGray"}
    found.update({NameObject(key): NameObject(name) for key, name in names.items()})
    for key, number in {"/Width": image.width, "/Height": image.height, "/BitsPerComponent": 8}.items():
        found[NameObject(key)] = NumberObject(number)
    if compression:
        found[NameObject("/Filter")] = NameObject(compression)
    found.set_data(image.tobytes())
    return found


def add_rendered_page(
    writer: PdfWriter, objects: Mapping[str, DecodedStreamObject], content: str, size: tuple[int, int]
) -> PageObject:
    """A page of so many points on which `content` draws the objects of these names."""
    page = writer.add_blank_page(*size)
    held = DictionaryObject({NameObject(name): writer._add_object(each) for name, each in objects.items()})
    page[NameObject("/Resources")] = DictionaryObject({NameObject("/XObject"): held})
    stream = DecodedStreamObject()
    stream.set_data(content.encode())
    page[NameObject("/Contents")] = writer._add_object(stream)
    return page
