import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Certificate } from './certificates.ts';

/** As much of an SMTP server as a mail needs to be taken. */
export interface SmtpServer {
  /** `127.0.0.1:12345` */
  host: string;
  /** The mails that were taken, as they came. */
  taken: { from: string; to: string[]; text: string }[];
  /** What `AUTH PLAIN` brought, decoded. */
  credentials: string[];
  /** Answers to the ends of the next mails, in place of `250`; `''` answers nothing at all. */
  refusals: string[];
  /** Answers to the addresses of recipients, in place of `250`. */
  unknown: Map<string, string>;
  /** Answers to commands, in place of the usual ones: `AUTH`, `MAIL`; `''` answers nothing at all. */
  answers: Map<string, string>;
  /** Connections that were made. */
  connections: number;
  /** Those of them that were encrypted by STARTTLS. */
  encrypted: number;
  /** How many mails were sent to their end, whatever the answer. */
  ends: number;
  close(): Promise<void>;
}

/** With a certificate it offers STARTTLS. */
export async function startSmtp(certificate?: Certificate): Promise<SmtpServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    smtp.connections++;
    sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => {}));
    converse(socket);
    socket.write('220 test\r\n');
  });
  const converse = (socket: Socket) => {
    let mail = { from: '', to: [] as string[] };
    let rest = '';
    let isText = false;
    const answer = (line: string) => socket.write(`${line}\r\n`);
    const command = (line: string) => {
      const [verb = ''] = line.toUpperCase().split(/[ :]/, 1);
      const address = /<(.*)>/.exec(line)?.[1] ?? '';
      const given = smtp.answers.get(verb);
      if (given !== undefined) return given === '' ? undefined : answer(given);
      const mayEncrypt = certificate !== undefined && !(socket instanceof TLSSocket);
      if (verb === 'EHLO') return answer(`250-test${mayEncrypt ? '\r\n250-STARTTLS' : ''}\r\n250 AUTH PLAIN`);
      if (verb === 'STARTTLS' && mayEncrypt) {
        answer('220 go on');
        socket.removeAllListeners('data');
        const encrypted = new TLSSocket(socket, { isServer: true, ...certificate });
        encrypted.on('secure', () => smtp.encrypted++).on('error', () => {});
        return converse(encrypted);
      }
      if (verb === 'STARTTLS') return answer('502 not here');
      if (verb === 'AUTH') {
        smtp.credentials.push(Buffer.from(line.split(' ')[2] ?? '', 'base64').toString());
        return answer('235 ok');
      }
      if (verb === 'MAIL') mail = { from: address, to: [] };
      const refusal = verb === 'RCPT' ? smtp.unknown.get(address) : undefined;
      if (refusal !== undefined) return answer(refusal);
      if (verb === 'RCPT') mail.to.push(address);
      if (verb === 'DATA') {
        isText = true;
        return answer('354 go on');
      }
      return answer('250 ok');
    };
    const end = (text: string) => {
      smtp.ends++;
      const refusal = smtp.refusals.shift();
      if (refusal === '') return;
      if (refusal === undefined) smtp.taken.push({ ...mail, text });
      answer(refusal ?? '250 taken');
    };
    socket.setEncoding('utf8').on('data', (text: string) => {
      rest += text;
      for (;;) {
        const mark = isText ? '\r\n.\r\n' : '\r\n';
        const at = rest.indexOf(mark);
        if (at === -1) return;
        const part = rest.slice(0, at);
        rest = rest.slice(at + mark.length);
        if (isText) {
          isText = false;
          end(part);
        } else command(part);
      }
    });
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const smtp: SmtpServer = {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken: [],
    credentials: [],
    refusals: [],
    unknown: new Map(),
    answers: new Map(),
    connections: 0,
    encrypted: 0,
    ends: 0,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return smtp;
}
