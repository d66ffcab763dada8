import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { newSecret } from '../../kernel/ids.ts';

/** A browser in which users have signed in before. */
export interface Device {
  deviceId: string;
  /** The last ones. */
  userIds: readonly string[];
}

/** A browser shared by more users forgets the first of them. */
const MAX_USERS = 5;

const FORM = /^([A-Za-z0-9]{24})\.([0-9A-F-]{36}(?:~[0-9A-F-]{36}){0,4})\.([A-Za-z0-9_-]{43})$/;

/** Seconds. */
export const DEVICE_LIFETIME = 400 * 86_400;

export type DeviceCookie = ReturnType<typeof createDeviceCookie>;

/**
 * The browsers of a person, in a signed cookie that stays after signing out. Strangers who guess passwords or request
 * emails use up the allowance of strangers; a browser that this person has used before has its own. So an owner or a
 * shopper cannot be locked out. The cookie does not sign anyone in.
 */
export function createDeviceCookie(installationKey: Buffer, of: 'admin' | 'shop') {
  const key = Buffer.from(hkdfSync('sha256', installationKey, '', `kontor ${of} devices`, 32));
  const signatureOf = (text: string) => createHmac('sha256', key).update(text).digest('base64url');
  return {
    read(cookie: string | undefined): Device | undefined {
      const [, deviceId, users, signature] = FORM.exec(cookie ?? '') ?? [];
      if (deviceId === undefined) return undefined;
      const expected = Buffer.from(signatureOf(`${deviceId}.${users}`));
      if (!timingSafeEqual(Buffer.from(signature!), expected)) return undefined;
      return { deviceId, userIds: users!.split('~') };
    },

    write({ deviceId, userIds }: Device): string {
      const text = `${deviceId}.${userIds.join('~')}`;
      return `${text}.${signatureOf(text)}`;
    },
  };
}

export function withUser(device: Device | undefined, userId: string): Device {
  const others = (device?.userIds ?? []).filter((other) => other !== userId);
  return { deviceId: device?.deviceId ?? newSecret(24), userIds: [userId, ...others].slice(0, MAX_USERS) };
}
