export interface PastedCode {
  /** The pasted line. */
  text: string;
  number: string;
  /** One for each parcel. */
  trackingCodes: string[];
}

/** Two columns as a spreadsheet puts them on the clipboard, or as people type them: order number, then tracking codes. */
export function pastedCodes(text: string): PastedCode[] {
  return text
    .split(/\r\n?|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const [, number, code] = /^"?([^\s;,"]+)"?[\s;,]*(.*)$/.exec(line) ?? [];
      const trackingCodes = (code ?? '')
        .split(/[,;\t]/)
        .map((one) => one.replaceAll('"', '').trim())
        .filter((one) => one !== '');
      return { text: line, number: number ?? line, trackingCodes: [...new Set(trackingCodes)] };
    });
}
