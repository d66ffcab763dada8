import { encode as encodeBase64, wrap as wrapBase64 } from 'nodemailer/lib/base64';
import MailComposer, { type MailComposerOptions } from 'nodemailer/lib/mail-composer';
import type MimeNode from 'nodemailer/lib/mime-node';
import { encode as encodeQuotedPrintable, wrap as wrapQuotedPrintable } from 'nodemailer/lib/qp';

const LINE_LENGTH = 76;

/**
 * The bytes of an email. nodemailer composes and encodes the parts; its own way of sending each part through streams
 * takes three times as long, and all of them are in memory anyway.
 */
export function mimeBytes(mail: MailComposerOptions): Buffer {
  return Buffer.from(textOf(new MailComposer(mail).compile()));
}

function textOf(node: MimeNode): string {
  // These come first, because the boundary and the encoding are chosen with them.
  const headers = `${node.buildHeaders()}\r\n\r\n`;
  if (node.childNodes.length === 0) return headers + encodedContent(node);
  const parts = node.childNodes.map((part) => `--${node.boundary}\r\n${textOf(part)}\r\n`);
  return `${headers}${parts.join('')}--${node.boundary}--\r\n`;
}

function encodedContent(node: MimeNode): string {
  const content = node.content as string | Buffer;
  const encoding = node.getHeader('Content-Transfer-Encoding');
  if (encoding === 'base64') return wrapBase64(encodeBase64(content), LINE_LENGTH);
  const text = content.toString().replaceAll(/\r?\n/g, '\r\n');
  return encoding === 'quoted-printable'
    ? wrapQuotedPrintable(encodeQuotedPrintable(text), LINE_LENGTH)
    : text;
}
