import type { ProductFacts } from '../../catalogue/products/facts.ts';

/** A PDF of one A4 page in English, in a font that every PDF reader has. */
export function dataSheet(number: string, { name, essentialFeatures, manufacturer }: ProductFacts): Buffer {
  const lines = [
    `Product number: ${number}`,
    `Manufacturer: ${manufacturer}`,
    ...essentialFeatures!['en_GB']!.split(', '),
  ];
  const page = [
    'BT',
    '/F1 24 Tf 60 760 Td',
    `${pdfString(name!['en_GB']!)} Tj`,
    '/F1 12 Tf 0 -20 Td 20 TL',
    ...lines.map((line) => `T* ${pdfString(line)} Tj`),
    'ET',
  ].join('\n');
  return toPdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${page.length} >>\nstream\n${page}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
  ]);
}

function pdfString(text: string): string {
  return `(${text.replaceAll(/[()\\]/g, '\\$&')})`;
}

/** Writes the objects of a PDF, numbered from 1, and the table of their offsets. */
function toPdf(objects: readonly string[]): Buffer {
  let text = '%PDF-1.4\n';
  const starts = objects.map((object, index) => {
    const start = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(start).padStart(10, '0')} 00000 n \n`;
  });
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${starts.join('')}`;
  return Buffer.from(
    `${text}${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`,
    'latin1',
  );
}
