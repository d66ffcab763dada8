import { crc32, deflateRawSync } from 'node:zlib';

/** A zip with these files, as a merchant's computer makes one. */
export function zipOf(files: Readonly<Record<string, Buffer | string>>): Buffer {
  const entries = Object.entries(files).map(([name, content]) => {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    // Names in UTF-8, deflated, without a date.
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(0x0800, 2);
    facts.writeUInt16LE(8, 4);
    facts.writeUInt32LE(crc32(bytes), 10);
    facts.writeUInt32LE(packed.length, 14);
    facts.writeUInt32LE(bytes.length, 18);
    facts.writeUInt16LE(Buffer.byteLength(name), 22);
    return { name: Buffer.from(name), facts, packed };
  });
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, facts, packed } of entries) {
    parts.push(Buffer.from('PK\u0003\u0004'), facts, name, packed);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\u0001\u0002\u0014\0'), facts, place, name);
    offset += 30 + name.length + packed.length;
  }
  const size = Buffer.concat(directory).length;
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, ...directory, end]);
}
