import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** How long a download can be begun, or resumed, by its link. */
const VALID_FOR = 2 * 3_600_000;

/** What a link to the bytes of a file is for. */
export interface DownloadGrant {
  orderId: string;
  lineItemId: string;
  fileId: string;
  version: number;
}

const ID_BYTES = 16;
const PAYLOAD_BYTES = 2 * ID_BYTES + 4 + 6;
const SIGNATURE_BYTES = 16;
const LINK = /^[A-Za-z0-9_-]{78}$/;

/**
 * Links to the bytes of a file. A customer gets one by a form on the order page, which counts the download: a program
 * that opens the links of an email counts none. The link is signed, works for two hours, and resumes a download that
 * was cut off without counting again. It opens the file only while the order entitles to it.
 */
export interface DownloadLinks {
  link(shopId: string, grant: DownloadGrant, now: Date): string;
  /** undefined: it is not valid for this order, or no longer. */
  grant(shopId: string, orderId: string, link: string, now: Date): DownloadGrant | undefined;
}

export function downloadLinks(installationKey: Buffer): DownloadLinks {
  const key = Buffer.from(hkdfSync('sha256', installationKey, '', 'kontor download links', 32));
  const signed = (shopId: string, orderId: string, payload: Buffer) => {
    const signature = createHmac('sha256', key)
      .update(`${shopId}\0${orderId.toUpperCase()}\0`)
      .update(payload)
      .digest();
    return Buffer.concat([payload, signature.subarray(0, SIGNATURE_BYTES)]).toString('base64url');
  };
  return {
    link(shopId, { orderId, lineItemId, fileId, version }, now) {
      const payload = Buffer.alloc(PAYLOAD_BYTES);
      payload.write(lineItemId.replaceAll('-', ''), 0, 'hex');
      payload.write(fileId.replaceAll('-', ''), ID_BYTES, 'hex');
      payload.writeUInt32BE(version, 2 * ID_BYTES);
      payload.writeUIntBE(now.getTime() + VALID_FOR, 2 * ID_BYTES + 4, 6);
      return signed(shopId, orderId, payload);
    },
    grant(shopId, orderId, link, now) {
      if (!LINK.test(link)) return undefined;
      const payload = Buffer.from(link, 'base64url').subarray(0, PAYLOAD_BYTES);
      const expected = signed(shopId, orderId, payload);
      if (expected.length !== link.length || !timingSafeEqual(Buffer.from(expected), Buffer.from(link)))
        return undefined;
      if (payload.readUIntBE(2 * ID_BYTES + 4, 6) <= now.getTime()) return undefined;
      return {
        orderId,
        lineItemId: idAt(payload, 0),
        fileId: idAt(payload, ID_BYTES),
        version: payload.readUInt32BE(2 * ID_BYTES),
      };
    },
  };
}

function idAt(payload: Buffer, start: number): string {
  const hex = payload
    .subarray(start, start + ID_BYTES)
    .toString('hex')
    .toUpperCase();
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
