import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Certificate {
  key: string;
  cert: string;
}

/** A certificate authority of a test, that no other program trusts. */
export interface CertificateAuthority {
  /** Its own certificate, for those who trust it. */
  cert: string;
  issue(name: string): Promise<Certificate>;
  /** A certificate that nobody has signed but itself. */
  selfSigned(name: string): Promise<Certificate>;
  close(): Promise<void>;
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];

export async function createCertificateAuthority(): Promise<CertificateAuthority> {
  const folder = await mkdtemp(path.join(tmpdir(), 'kontor-certificates-'));
  const place = (file: string) => path.join(folder, file);
  let made = 0;
  const make = async (name: string, more: readonly string[]): Promise<Certificate> => {
    const [key, cert] = [place(`${++made}.key`), place(`${made}.pem`)];
    await run('openssl', [
      'req',
      '-x509',
      ...NEW_KEY,
      '-keyout',
      key,
      '-out',
      cert,
      '-subj',
      `/CN=${name}`,
      ...more,
    ]);
    return { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') };
  };
  const { cert } = await make('Kontor test authority', []);
  const ofName = (name: string) => [
    '-addext',
    `subjectAltName=DNS:${name}`,
    '-addext',
    'basicConstraints=CA:FALSE',
  ];
  return {
    cert,
    issue: (name) => make(name, [...ofName(name), '-CA', place('1.pem'), '-CAkey', place('1.key')]),
    selfSigned: (name) => make(name, ofName(name)),
    close: () => rm(folder, { recursive: true }),
  };
}
