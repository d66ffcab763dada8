import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** Stands in for the API of e-invoice.be: drafts from UBL files, sending, states. */
export interface AccessPoint {
  endpoint: string;
  /** By id. */
  documents: Map<string, { state: string; xml: string }>;
  calls: string[];
  /** Changes the next answers: a status, or `hang up` after the call was carried out. */
  failures: (number | 'hang up')[];
  /** The answer to calls whose address ends so is lost, after the call was carried out. */
  loseAnswerTo: string | undefined;
  stop(): Promise<void>;
}

export const ACCESS_POINT_KEY = 'test-key-of-the-access-point';

export async function startAccessPoint(): Promise<AccessPoint> {
  const documents: AccessPoint['documents'] = new Map();
  const calls: string[] = [];
  const failures: AccessPoint['failures'] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const { method, url, headers } = request;
      const body = await buffer(request);
      calls.push(`${method} ${url!.replace(/doc_\d+/, '{id}')}`);
      const answer = (status: number, content: object) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(content));
      };
      const failure = failures.shift();
      if (typeof failure === 'number') return answer(failure, { detail: `told to answer ${failure}` });
      if (headers.authorization !== `Bearer ${ACCESS_POINT_KEY}`)
        return answer(401, { detail: 'no such key' });
      const [, id, action] = /^\/api\/documents\/(doc_\d+)(\/send)?$/.exec(url!) ?? [];
      const document = id === undefined ? undefined : documents.get(id);
      const done = (status: number, content: object) =>
        failure === 'hang up' || (point.loseAnswerTo !== undefined && url!.endsWith(point.loseAnswerTo))
          ? response.destroy()
          : answer(status, content);
      if (method === 'POST' && url === '/api/documents/ubl') {
        const xml =
          /name="file"; filename="[^"]+"\r\nContent-Type: application\/xml\r\n\r\n([\s\S]*)\r\n--kontor-/.exec(
            body.toString(),
          )?.[1];
        if (xml === undefined) return answer(422, { detail: 'Field required: body.file' });
        const newId = `doc_${documents.size + 1}`;
        documents.set(newId, { state: 'DRAFT', xml });
        return done(201, { id: newId, state: 'DRAFT' });
      }
      if (!document) return answer(404, { detail: 'not found' });
      if (method === 'POST' && action) {
        if (document.state !== 'DRAFT') return answer(400, { detail: 'already sent' });
        document.state = 'TRANSIT';
      }
      return done(200, { id, state: document.state });
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const point: AccessPoint = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    documents,
    calls,
    failures,
    loseAnswerTo: undefined,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return point;
}
