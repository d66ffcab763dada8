import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { mediaServer, type Service } from './service.ts';

/** The stored files of a service, seen from outside: in its folder, or in the S3 server of this test file. */

const folderOf = ({ config }: Service) => path.join(config.KONTOR_DATA, 'media');

/** Where the names of its files begin in the bucket. */
export function prefixOf({ config }: Pick<Service, 'config'>): string {
  return `${path.basename(config.KONTOR_DATA)}/`;
}

/** All of them, as `Shop/<key>/a.png`; uploads that are not finished are files of the machine in any case. */
export async function storedFiles(service: Service): Promise<string[]> {
  const folder = folderOf(service);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
  const prefix = prefixOf(service);
  const keys = [...(mediaServer.s3?.objects.keys() ?? [])].filter((key) => key.startsWith(prefix));
  return [...names, ...keys.map((key) => key.slice(prefix.length))].toSorted();
}

/** The folders of a shop that hold files. */
export async function storedFolders(service: Service, shopId: string): Promise<string[]> {
  const own = (await storedFiles(service)).filter((name) => name.startsWith(`${shopId}/`));
  return [...new Set(own.map((name) => name.split('/')[1]!))];
}

export async function putFile(service: Service, name: string, content: string): Promise<void> {
  if (mediaServer.s3) {
    const object = { bytes: Buffer.from(content), modifiedAt: new Date(), type: undefined };
    mediaServer.s3.objects.set(prefixOf(service) + name, object);
    return;
  }
  const place = path.join(folderOf(service), name);
  await mkdir(path.dirname(place), { recursive: true });
  await writeFile(place, content);
}

/** Makes a folder one that was written to at that time. */
export async function setAge(service: Service, name: string, time: Date): Promise<void> {
  if (!mediaServer.s3) return utimes(path.join(folderOf(service), name), time, time);
  for (const [key, object] of mediaServer.s3.objects) {
    if (key.startsWith(`${prefixOf(service)}${name}/`)) object.modifiedAt = time;
  }
}
