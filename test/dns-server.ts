import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import ipaddr from 'ipaddr.js';

/** A name server on this machine: knows the records that a test sets, and answers that there is none for all others. */
export interface DnsServer {
  /** As `dns.setServers` takes it. */
  address: string;
  /** The questions that came: `TXT _kontor-challenge.shop.example`. */
  questions: string[];
  set(type: RecordType, name: string, value: string): void;
  /** false: questions get no answer any more. */
  isAnswering: boolean;
  clear(): void;
  close(): void;
}

type RecordType = 'TXT' | 'CNAME' | 'A' | 'AAAA';

const TYPES: Readonly<Record<number, RecordType>> = { 1: 'A', 5: 'CNAME', 16: 'TXT', 28: 'AAAA' };

export async function startDnsServer(): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const records = new Map<string, string>();
  const server: DnsServer = {
    address: '',
    questions: [],
    isAnswering: true,
    set: (type, name, value) => void records.set(`${type} ${name.toLowerCase()}`, value),
    clear: () => {
      records.clear();
      server.questions.length = 0;
      server.isAnswering = true;
    },
    close: () => void socket.close(),
  };
  socket.on('message', (query, { port, address }) => {
    const { name, end } = readName(query, 12);
    const type = TYPES[query.readUInt16BE(end)] ?? 'TXT';
    server.questions.push(`${type} ${name}`);
    if (!server.isAnswering) return;
    const value = records.get(`${type} ${name.toLowerCase()}`);
    socket.send(answerTo(query.subarray(0, end + 4), type, value), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  server.address = `127.0.0.1:${socket.address().port}`;
  return server;
}

/** RFC 1035, 3.1: labels, each after its length, up to one of no length. */
function readName(message: Buffer, start: number): { name: string; end: number } {
  const labels: string[] = [];
  let place = start;
  for (let length = message[place]!; length > 0; length = message[place]!) {
    labels.push(message.toString('latin1', place + 1, place + 1 + length));
    place += 1 + length;
  }
  return { name: labels.join('.'), end: place + 1 };
}

function writeLabels(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(label, 'latin1'));
  return Buffer.concat([
    ...labels.flatMap((label) => [Buffer.from([label.length]), label]),
    Buffer.from([0]),
  ]);
}

/** The question with its answer, or with "no such name". */
function answerTo(question: Buffer, type: RecordType, value: string | undefined): Buffer {
  const message = Buffer.from(question);
  message.writeUInt16BE(value === undefined ? 0x8183 : 0x8180, 2);
  message.writeUInt16BE(value === undefined ? 0 : 1, 6);
  message.writeUInt16BE(0, 8);
  message.writeUInt16BE(0, 10);
  if (value === undefined) return message;
  const data = dataOf(type, value);
  const head = Buffer.alloc(12);
  // A pointer to the name of the question.
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(Number(Object.keys(TYPES).find((code) => TYPES[Number(code)] === type)), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(60, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([message, head, data]);
}

function dataOf(type: RecordType, value: string): Buffer {
  switch (type) {
    case 'TXT':
      // Texts of up to 255 bytes, which belong together.
      return Buffer.concat(
        (value.match(/[^]{1,255}/g) ?? ['']).map((text) =>
          Buffer.from([text.length, ...Buffer.from(text, 'latin1')]),
        ),
      );
    case 'CNAME':
      return writeLabels(value);
    case 'A':
    case 'AAAA':
      return Buffer.from(ipaddr.parse(value).toByteArray());
  }
}
