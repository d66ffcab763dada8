import { hash } from 'node:crypto';

/** Ids are as old as if the shop had been created at this moment, so that everything created later sorts after them. */
const MADE_AT = Date.UTC(2025, 0, 1);

export interface DemoIdOptions {
  /** The creation time; absent: that of the shop. */
  at?: Date;
}

/** Derives the id of a thing from its kind and name: `newDemoId('product', 'AP-100', { at })`. */
export type DemoIds = (kind: string, name: string, options?: DemoIdOptions) => string;

/**
 * The ids of a demo shop, which are the same on every machine: the examples of the API reference name them. They are
 * version 7 UUIDs like all others and sort by time, those of one kind and moment in the order in which they are made.
 */
export function demoIds(shopId: string, now: Date): DemoIds {
  const made = new Map<string, number>();
  return (kind, name, { at = now } = {}) => {
    const index = made.get(kind) ?? 0;
    made.set(kind, index + 1);
    const bytes = hash('sha256', `${shopId}/${kind}/${name}`, 'buffer').subarray(0, 16);
    bytes.writeUIntBE(MADE_AT - Math.max(0, now.getTime() - at.getTime()), 0, 6);
    bytes.writeUInt16BE(0x7000 | (index % 4_096), 6);
    bytes[8] = (bytes[8]! & 0x3f) | 0x80;
    const hex = bytes.toString('hex').toUpperCase();
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  };
}
