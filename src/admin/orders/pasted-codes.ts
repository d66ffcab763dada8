export interface PastedCode {
  /** The pasted line. */
  text: string;
  number: string;
  trackingCode: string | null;
}

/** Two columns as a spreadsheet puts them on the clipboard, or as people type them: order number, then tracking code. */
export function pastedCodes(text: string): PastedCode[] {
  return text
    .split(/\r\n?|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const [, number, code] = /^"?([^\s;,"]+)"?[\s;,]*(.*)$/.exec(line) ?? [];
      const trackingCode = (code ?? '').replaceAll(/^"|"$/g, '').trim();
      return { text: line, number: number ?? line, trackingCode: trackingCode === '' ? null : trackingCode };
    });
}
