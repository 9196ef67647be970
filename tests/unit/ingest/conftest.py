"""Small files made by hand: PDF, Word and PowerPoint."""

import io
import zipfile
from collections.abc import Callable, Sequence
from xml.sax.saxutils import escape

import pytest


@pytest.fixture
def pdf() -> Callable[[Sequence[Sequence[str]]], bytes]:
    """Return a function that makes a PDF of pages of lines."""
    return make_pdf


@pytest.fixture
def docx() -> Callable[[str, Sequence[str], Sequence[Sequence[str]]], bytes]:
    """Return a function that makes a Word file of a heading, paragraphs and a table."""
    return make_docx


def make_pdf(pages: Sequence[Sequence[str]]) -> bytes:
    fixed = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    objects, kids = list(fixed), []
    for lines in pages:
        shown = "".join(f"({line.replace('(', chr(92) + '(').replace(')', chr(92) + ')')}) Tj T*\n" for line in lines)
        stream = f"BT /F1 11 Tf 72 720 Td 14 TL\n{shown}ET".encode("latin-1")
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    return _pdf_file(objects)


def _pdf_file(objects: Sequence[bytes]) -> bytes:
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    tail = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(out))
    return out + head + table + tail


def make_docx(heading: str, paragraphs: Sequence[str], table: Sequence[Sequence[str]]) -> bytes:
    rows = "".join("<w:tr>" + "".join(f"<w:tc>{_paragraph(cell)}</w:tc>" for cell in row) + "</w:tr>" for row in table)
    body = _paragraph(heading, style="Heading1") + "".join(map(_paragraph, paragraphs)) + f"<w:tbl>{rows}</w:tbl>"
    office = "http://schemas.openxmlformats.org"
    document = f'<w:document xmlns:w="{office}/wordprocessingml/2006/main"><w:body>{body}</w:body></w:document>'
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    types = (
        f'<Types xmlns="{office}/package/2006/content-types"><Default Extension="rels" '
        f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override '
        f'PartName="/word/document.xml" ContentType="{kind}"/></Types>'
    )
    relations = (
        f'<Relationships xmlns="{office}/package/2006/relationships"><Relationship Id="r1" '
        f'Type="{office}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>'
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("[Content_Types].xml", types)
        archive.writestr("_rels/.rels", relations)
        archive.writestr("word/document.xml", document)
    return file.getvalue()


def _paragraph(text: str, style: str = "") -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{properties}<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'
