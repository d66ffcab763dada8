import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config.ts';
import { syncFolder } from '../../db/embedded-init.ts';
import type { Relay, RelayEmail } from './relay.ts';

export interface Attachment {
  name: string;
  type: 'application/pdf' | 'application/xml' | 'text/plain; charset=utf-8' | 'image/svg+xml' | 'image/png';
  bytes: Buffer;
}

/** An email that is ready to be delivered. */
export interface EmailMessage {
  id: string;
  from: { name: string; address: string };
  replyTo: string | undefined;
  to: string;
  subject: string;
  language: string;
  text: string;
  html: string;
  attachments: Attachment[];
  /** A PNG that the HTML shows as `cid:`. */
  logo: { cid: string; bytes: Buffer } | undefined;
  /** The part after the @ of its Message-ID. */
  host: string;
  /** Beside the common ones. */
  headers?: Readonly<Record<string, string>>;
  /** Where refusals are reported to, if that is another address than `from`. */
  envelopeFrom?: string;
  /** The mail server of the shop; undefined: that of the installation. */
  relay?: Relay | undefined;
  /** Signs the email for the domain of the shop; with a mail server of its own, that one does. */
  dkim?: DkimSignature | undefined;
}

export interface DkimSignature {
  domainName: string;
  keySelector: string;
  /** PEM. */
  privateKey: string;
}

export interface EmailDelivery {
  deliver: (message: EmailMessage) => Promise<void>;
  /** Makes current deliveries fail. */
  close: () => void;
}

/** Shorter than the time after which a job counts as lost. */
const DEADLINE = 45_000;

/** The folder keeps its first name, because installations have it. */
const folderOf = ({ KONTOR_DATA }: Pick<Config, 'KONTOR_DATA'>) => path.resolve(KONTOR_DATA, 'mails');

/** Where the emails of this installation go. */
export function createDelivery(config: Pick<Config, 'SMTP_URL' | 'KONTOR_DATA'>): EmailDelivery {
  return config.SMTP_URL === undefined ? fileDelivery(folderOf(config)) : smtpDelivery(config.SMTP_URL);
}

/** The same in words, for the log. */
export function deliveryPlace(config: Pick<Config, 'SMTP_URL' | 'KONTOR_DATA'>): string {
  if (config.SMTP_URL === undefined) return `SMTP_URL is not set, emails are written to ${folderOf(config)}`;
  requireAddress(config.SMTP_URL);
  return 'emails are sent by SMTP';
}

/** Checked here, because Node's own error contains the address with its password. */
function requireAddress(url: string): void {
  if (!URL.canParse(url)) throw new Error('SMTP_URL is not an address such as smtp://user:password@host:587');
}

/** Delivers by SMTP, over connections that are reused for the next email. */
export function smtpDelivery(url: string, deadline = DEADLINE): EmailDelivery {
  requireAddress(url);
  const open = () => openTransport(url);
  let transport: ReturnType<typeof open> | undefined;
  return {
    deliver: async (message) => {
      const opened = (transport ??= open());
      const used = await opened;
      // A server that sends a byte now and then would hold a connection for ever.
      const timer = setTimeout(() => {
        if (transport === opened) transport = undefined;
        used.close({ force: true });
      }, deadline);
      try {
        const email = await rawEmail(message);
        await used.sendMail({ ...email, ...(message.dkim && { dkim: message.dkim }) });
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => void transport?.then((opened) => opened.close({ force: true })),
  };
}

/** Why the server does not take emails: signs in and sends none. Undefined: it does. */
export async function smtpProblem(url: string, deadline: number): Promise<string | undefined> {
  const transport = await openTransport(url);
  const timer = setTimeout(() => transport.close({ force: true }), deadline);
  try {
    await transport.verify();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    clearTimeout(timer);
    transport.close({ force: true });
  }
}

async function openTransport(url: string) {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    url,
    pool: true,
    // A password must not cross the network in clear; `?requireTLS=false` in the address allows it.
    requireTLS: new URL(url).password !== '',
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 20_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** The envelope and the bytes of an email. */
export async function rawEmail(message: EmailMessage): Promise<RelayEmail> {
  const mail = headersAndParts(message);
  // Objects, because texts would be parsed as lists of addresses.
  const from = message.envelopeFrom === undefined ? mail.from : { name: '', address: message.envelopeFrom };
  return { envelope: { from, to: mail.to }, raw: await bytesOf(mail) };
}

/** The library is loaded with the first email. */
async function bytesOf(mail: ReturnType<typeof headersAndParts>): Promise<Buffer> {
  const { mimeBytes } = await import('./mime.ts');
  return mimeBytes(mail);
}

/** Writes one file per email, named by its id, so that a second delivery replaces the first. */
export function fileDelivery(folder: string): EmailDelivery {
  return {
    deliver: async (message) => {
      const bytes = await bytesOf(headersAndParts(message));
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeWhole(folder, `${message.id}.eml`, bytes);
    },
    close: () => {},
  };
}

/** Writes the file completely or not at all, even if the power fails. */
async function writeWhole(folder: string, name: string, bytes: Buffer): Promise<void> {
  const draft = path.join(folder, `.${randomUUID()}.draft`);
  try {
    await writeFile(draft, bytes, { flag: 'wx', mode: 0o600, flush: true });
    await rename(draft, path.join(folder, name));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

/** The Message-ID is the same for each attempt, so a receiver can drop a duplicate after a crash. */
function headersAndParts(message: EmailMessage) {
  const { id, from, replyTo, to, subject, language, text, html, attachments, logo, host } = message;
  const { headers = {} } = message;
  const names = attachments.map(({ name }) => name);
  const values = [
    from.name,
    from.address,
    message.envelopeFrom ?? '',
    replyTo ?? '',
    to,
    subject,
    host,
    ...names,
    ...Object.values(headers),
  ];
  for (const value of values) {
    if (/\p{Cc}/u.test(value)) throw new Error('A header of this email holds a control character');
  }
  return {
    messageId: `<${id}@${host}>`,
    from,
    to: { name: '', address: to },
    ...(replyTo !== undefined && { replyTo: { name: '', address: replyTo } }),
    subject,
    text,
    html,
    attachments: [
      ...attachments.map(({ name: filename, type: contentType, bytes: content }) => ({
        filename,
        content,
        contentType,
      })),
      ...(logo
        ? [
            {
              cid: logo.cid,
              filename: 'logo.png',
              content: logo.bytes,
              contentDisposition: 'inline' as const,
            },
          ]
        : []),
    ],
    headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': language, ...headers },
  };
}
