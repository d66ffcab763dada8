/** An element of an XML document. Null children are left out. */
export interface XmlElement {
  name: string;
  attributes: Readonly<Record<string, string>>;
  content: string | readonly (XmlElement | null)[];
}

export function element(
  name: string,
  content: XmlElement['content'],
  attributes: XmlElement['attributes'] = {},
): XmlElement {
  return { name, content, attributes };
}

/** null: there is no text, and readers refuse empty elements. */
export function optionalElement(name: string, text: string | null): XmlElement | null {
  return text === null ? null : element(name, text);
}

export function xmlText(root: XmlElement): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${textOf(root, '')}`;
}

function textOf({ name, attributes, content }: XmlElement, indent: string): string {
  const head = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(value)}"`);
  const inner =
    typeof content === 'string'
      ? escaped(content)
      : `\n${content.map((child) => child && textOf(child, `${indent}  `)).join('')}${indent}`;
  return `${indent}<${name}${head.join('')}>${inner}</${name}>\n`;
}

const SIGNS: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Control characters and lone surrogates can't appear in XML, not even escaped. */
function escaped(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replaceAll(/[&<>"]/g, (sign) => SIGNS[sign]!);
}
