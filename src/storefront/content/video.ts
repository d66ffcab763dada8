/** The sites of videos. Their frames come from addresses that set no cookies before a video is played. */
export const VIDEO_SITES = {
  youtube: { name: 'YouTube', origin: 'https://www.youtube-nocookie.com' },
  vimeo: { name: 'Vimeo', origin: 'https://player.vimeo.com' },
} as const;

export type VideoSite = keyof typeof VIDEO_SITES;

/** The frame of a video whose address the schema of the block allows. */
export function findVideo(address: string): { site: VideoSite; frame: string } {
  const { hostname, pathname, searchParams } = new URL(address);
  const last = pathname.split('/').at(-1)!;
  if (hostname.endsWith('vimeo.com')) {
    const number = /\d+/.exec(pathname)![0];
    return { site: 'vimeo', frame: `${VIDEO_SITES.vimeo.origin}/video/${number}?dnt=1&autoplay=1` };
  }
  const id = encodeURIComponent(searchParams.get('v') ?? last);
  return { site: 'youtube', frame: `${VIDEO_SITES.youtube.origin}/embed/${id}?autoplay=1` };
}
