import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { readConfig } from '../../config.ts';
import { receiverPolicy } from '../../apps/webhooks/receiver-address.ts';
import { fetchPicture } from './fetch-picture.ts';
import { namedAddress, readPictures } from './picture-addresses.ts';

const open = receiverPolicy(readConfig({ HOST: '0.0.0.0' }), { isOpen: () => false });
const isPrivate = receiverPolicy(readConfig({ HOST: '127.0.0.1' }), { isOpen: () => true });

test.each([
  'http://127.0.0.1/lamp.png',
  'https://169.254.169.254/lamp.png',
  'https://[::1]/lamp.png',
  'https://localhost/lamp.png',
  'https://user:word@shop.example/lamp.png',
])('a service that others can reach does not fetch %s', async (address) => {
  await expect(fetchPicture(open, address)).rejects.toThrow(/^The address must/);
});

test('redirects end, and so do pictures that are too large', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/round.png') response.writeHead(302, { location: '/round.png' }).end();
    else response.end(Buffer.alloc(11 * 1_048_576));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expect(fetchPicture(isPrivate, `${origin}/round.png`)).rejects.toThrow('leads elsewhere too often');
  await expect(fetchPicture(isPrivate, `${origin}/large.png`)).rejects.toThrow('more than 10 MB');
  server.close();
});

test('a cell has addresses of pictures, whose names are the last part', () => {
  expect(readPictures('https://a.example/b%20c.JPG?x=1 | https://a.example/d.png')).toEqual([
    { place: 'https://a.example/b%20c.JPG?x=1', isFile: false, name: 'b c.JPG' },
    { place: 'https://a.example/d.png', isFile: false, name: 'd.png' },
  ]);
  expect(readPictures('https://a.example/1.png https://a.example/2.png')).toHaveLength(2);
  for (const cell of ['ftp://a.example/b', 'https://a.example/', 'https://a.example/b.svg']) {
    expect(() => readPictures(cell)).toThrow('which is no address');
  }
});

test('the address of a picture of ours says its name where the file has another', () => {
  const address = namedAddress('http://localhost/media/A/K/Oel_1.png', 'Öl 1.png');
  expect(readPictures(address)).toEqual([{ place: address, isFile: false, name: 'Öl 1.png' }]);
  expect(namedAddress('http://localhost/media/A/K/a.png', 'a.png')).toBe('http://localhost/media/A/K/a.png');
});

test('a cell may name files', () => {
  expect(readPictures('red lamp.png | img/blue.jpg')).toEqual([
    { place: 'red lamp.png', isFile: true, name: 'red lamp.png' },
    { place: 'img/blue.jpg', isFile: true, name: 'blue.jpg' },
  ]);
  expect(() => readPictures('notes.txt')).toThrow('nor a file such as lamp.jpg');
});
