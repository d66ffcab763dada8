import { once } from 'node:events';
import http from 'node:http';

/** A request with a name of the host of its own, which fetch does not allow. */
export async function sendTo(
  address: string,
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string>,
  // oxlint-disable-next-line typescript/no-explicit-any
): Promise<{ status: number; body: any }> {
  const request = http.request(address + path, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
  });
  request.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const text = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode!, body: JSON.parse(text) };
}
