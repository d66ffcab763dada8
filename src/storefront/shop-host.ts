/** A client may send the host in the address too, as to a proxy; it is ignored here. */
const WHOLE_ADDRESS = /^https?:\/\/[^/?#]*/i;

/**
 * The path that an address on a shop's own host stands for. Files that pages load are the same on every host: our own,
 * and the images of this shop. Everything else is below the shop, so no other path of the service is reachable.
 * `/shop/ID` stays, because old links have it: they are redirected to the path without it.
 */
export function pathOnShopHost(url: string, shopId: string): string {
  const path = url.replace(WHOLE_ADDRESS, '');
  const isShared = path.startsWith('/assets/') || path.startsWith(`/media/${shopId}/`);
  if (isShared) return path;
  const base = `/shop/${shopId}`;
  if (path.startsWith(base) && /^(?:[/?#]|$)/.test(path.slice(base.length))) return path;
  return base + (/^\/(?:[?#]|$)/.test(path) ? path.slice(1) : path);
}
