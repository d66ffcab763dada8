/** The addresses that the guides are written with, and the marks for them in a page that is made once for all hosts. */
const WRITTEN = 'http://localhost:8080';
const WRITTEN_SHOP = '.localhost:8080';
// Private-use characters, which no guide contains.
const ORIGIN = '\uE000';
const SHOP_HOST = '\uE001';

/** Marks the addresses in a guide, so that each reader sees the address of the server they use. */
export function markAddresses(markdown: string): string {
  return markdown.replaceAll(WRITTEN, ORIGIN).replaceAll(WRITTEN_SHOP, SHOP_HOST);
}

/** The text with the address of this server, such as `https://shops.example`, in place of the marks. */
export function withAddress(text: string, origin: string): string {
  const { hostname, host } = new URL(origin);
  // Shops have a host below localhost only; elsewhere the operator chooses theirs.
  const shopHost = hostname === 'localhost' ? `.${host}` : WRITTEN_SHOP;
  return text.replaceAll(ORIGIN, () => origin).replaceAll(SHOP_HOST, () => shopHost);
}
