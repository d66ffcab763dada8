import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

const hashOf = (data: string | Buffer) => createHash('sha256').update(data).digest();

/** A device as the standard describes it: a key pair, and answers that are signed with it. */
export function givenDevice({ host = 'localhost', origin = 'http://localhost' } = {}) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x, y } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(32);
  let counter = 0;
  const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));
  const cose = isoCBOR.encode(
    new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, bytes(x!)],
      [-3, bytes(y!)],
    ]),
  );
  // User present, user verified; with a key: its bytes follow.
  const head = (flags: number, rp = host) => {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([hashOf(rp), Buffer.from([flags]), count]);
  };
  const clientData = (type: string, challenge: string, at = origin) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: at, crossOrigin: false }));
  const answer = (response: Record<string, Uint8Array>) =>
    JSON.stringify({
      id: id.toString('base64url'),
      rawId: id.toString('base64url'),
      type: 'public-key',
      clientExtensionResults: {},
      response: Object.fromEntries(
        Object.entries(response).map(([key, value]) => [key, Buffer.from(value).toString('base64url')]),
      ),
    });
  return {
    id: id.toString('base64url'),
    privateKey,
    setCounter: (value: number) => (counter = value),
    /** `maker`: who vouches for the device, with which certificate; itself, without one. */
    create(
      challenge: string,
      maker?: { key: KeyObject; certificate: Buffer } | 'itself',
      { flags = 0x45, type = 'webauthn.create' } = {},
    ) {
      const authData = Buffer.concat([head(flags), Buffer.alloc(16), Buffer.from([0, id.length]), id, cose]);
      const clientDataJSON = clientData(type, challenge);
      const signed = Buffer.concat([authData, hashOf(clientDataJSON)]);
      const statement = new Map<string, number | Uint8Array | Uint8Array[]>();
      if (maker) {
        const key = maker === 'itself' ? privateKey : maker.key;
        statement.set('alg', -7).set('sig', new Uint8Array(sign('sha256', signed, key)));
        if (maker !== 'itself') statement.set('x5c', [new Uint8Array(maker.certificate)]);
      }
      return answer({
        clientDataJSON,
        attestationObject: isoCBOR.encode(
          new Map<string, string | Uint8Array | typeof statement>([
            ['fmt', maker ? 'packed' : 'none'],
            ['attStmt', statement],
            ['authData', new Uint8Array(authData)],
          ]),
        ),
      });
    },
    sign(
      challenge: string,
      { flags = 0x05, rp = host, at = origin, type = 'webauthn.get', key = privateKey } = {},
    ) {
      const [authenticatorData, clientDataJSON] = [head(flags, rp), clientData(type, challenge, at)];
      const signed = Buffer.concat([authenticatorData, hashOf(clientDataJSON)]);
      const signature = sign('sha256', signed, key);
      return answer({ authenticatorData, clientDataJSON, signature });
    },
  };
}
