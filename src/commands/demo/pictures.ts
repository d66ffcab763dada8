/*
 * The pictures of the demo shop, drawn here as SVG so that they belong to nobody else. Every drawing is 800 x 600,
 * the light comes from the left, and there are no letters, because not every machine has fonts.
 */

export const CANVAS = { width: 800, height: 600 };

const INK = '#22303a';
const CREAM = '#faf3e6';
const STEEL = '#c3ccd1';
const BRASS = '#c9a14a';
const SLATE = '#5a6872';
const WOOD = '#b98a5a';
const BEAN = '#5b3a26';
const LEAF = '#6b8f4e';
const RUST = '#c8553d';
const AMBER = '#e0a33a';
const NAVY = '#1f3a4d';
const SHADE = '#00000024';
const SHINE = '#ffffff40';

/** Wall and table, by the mood of the picture. */
const MOODS = {
  sand: ['#f3e9d8', '#e4d3b8'],
  foam: ['#dfeaea', '#c4d7d8'],
  rose: ['#f4ded3', '#e6c4b3'],
  moss: ['#e3e8d3', '#cbd4b3'],
  sky: ['#dbe6ef', '#bfd0df'],
  night: ['#24323e', '#1a252f'],
} as const;
type Mood = keyof typeof MOODS;

type Fill = string;
const rect = (x: number, y: number, width: number, height: number, fill: Fill, radius = 0) =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${radius}" fill="${fill}"/>`;
const oval = (x: number, y: number, rx: number, ry: number, fill: Fill) =>
  `<ellipse cx="${x}" cy="${y}" rx="${rx}" ry="${ry}" fill="${fill}"/>`;
const disc = (x: number, y: number, radius: number, fill: Fill) => oval(x, y, radius, radius, fill);
const shape = (outline: string, fill: Fill) => `<path d="${outline}" fill="${fill}"/>`;
const line = (course: string, colour: Fill, width: number, more = '') =>
  `<path d="${course}" fill="none" stroke="${colour}" stroke-width="${width}" stroke-linecap="round" stroke-linejoin="round" ${more}/>`;
const moved = (x: number, y: number, scale: number, turn: number, ...parts: string[]) =>
  `<g transform="translate(${x} ${y}) rotate(${turn}) scale(${scale})">${parts.join('')}</g>`;
/** As drawn, but seen from nearer or askew: around the middle of the canvas. */
const seen = (scale: number, turn: number, ...parts: string[]) =>
  `<g transform="translate(400 330) rotate(${turn}) scale(${scale}) translate(-400 -330)">${parts.join('')}</g>`;
const times = (count: number, part: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => part(index)).join('');

function scene(mood: Mood, ...parts: string[]): string {
  const [wall, table] = MOODS[mood];
  return rect(0, 0, 800, 600, wall) + rect(0, 440, 800, 160, table) + parts.join('');
}

/** What a drawing stands on. */
const shadow = (width: number, x = 400, y = 502) => oval(x, y, width, 15, SHADE);

const bean = (x: number, y: number, scale = 1, turn = 0, fill: Fill = BEAN) =>
  moved(x, y, scale, turn, oval(0, 0, 30, 21, fill), line('M-27 2 C-10 -12 10 12 27 -2', '#00000055', 4));

const anchor = (x: number, y: number, scale: number, colour: Fill) =>
  moved(
    x,
    y,
    scale,
    0,
    `<circle cy="-44" r="11" fill="none" stroke="${colour}" stroke-width="8"/>`,
    line('M0 -32 V42 M-24 -16 H24 M-44 8 C-42 56 42 56 44 8', colour, 9),
  );

const leaf = (x: number, y: number, scale: number, turn = 0, fill: Fill = LEAF) =>
  moved(
    x,
    y,
    scale,
    turn,
    shape('M0 50 C-52 18 -48 -32 0 -54 C48 -32 52 18 0 50 Z', fill),
    line('M0 46 V-30 M0 16 L22 -4 M0 16 L-22 -4', '#ffffff70', 4),
  );

const steam = (x: number, y: number, colour: Fill = '#ffffffb0') =>
  times(3, (index) => line(`M${x - 42 + index * 42} ${y} c-16 -24 16 -40 0 -66`, colour, 7));

function bag(colour: Fill) {
  return (
    shadow(140) +
    shape('M292 190 H508 L528 494 Q400 512 272 494 Z', colour) +
    shape('M470 190 H508 L528 494 Q504 500 486 502 Z', SHADE) +
    shape('M292 190 L300 138 H500 L508 190 Z', colour) +
    shape('M292 190 L300 138 H500 L508 190 Z', '#00000018') +
    rect(284, 150, 232, 18, BRASS, 6) +
    disc(400, 232, 9, '#00000040') +
    disc(400, 362, 82, CREAM) +
    bean(400, 362, 1.7, -32)
  );
}

function brick() {
  return (
    shadow(125) +
    shape('M305 222 L338 176 H462 L495 222 Z', '#31505f') +
    rect(300, 220, 200, 280, NAVY, 8) +
    rect(466, 220, 34, 280, SHADE, 8) +
    rect(300, 300, 200, 118, CREAM) +
    rect(300, 418, 200, 10, AMBER) +
    shape('M400 318 C432 356 430 392 400 396 C370 392 368 356 400 318 Z', RUST) +
    rect(320, 236, 12, 54, SHINE, 6)
  );
}

const scoop =
  shape('M520 470 L600 470 Q596 512 560 512 Q524 512 520 470 Z', STEEL) +
  oval(560, 470, 40, 10, '#3f2919') +
  line('M598 478 L700 440', STEEL, 12);

function tin(colour: Fill, emblem: string) {
  return (
    shadow(125) +
    rect(298, 216, 204, 284, colour, 16) +
    rect(460, 216, 42, 284, SHADE, 16) +
    rect(288, 172, 224, 62, colour, 14) +
    rect(288, 172, 224, 62, '#00000022', 14) +
    rect(288, 224, 224, 8, BRASS) +
    rect(334, 286, 132, 156, CREAM, 12) +
    emblem +
    rect(314, 250, 12, 226, SHINE, 6)
  );
}

const ferry =
  shape('M346 376 H454 L436 408 H364 Z', NAVY) +
  rect(372, 350, 56, 28, '#7d8f98', 3) +
  rect(402, 322, 16, 30, RUST) +
  line('M344 420 q14 -12 28 0 t28 0 t28 0 t28 0', '#4d8291', 6);

const ginger =
  oval(400, 372, 40, 22, '#d9a766') +
  disc(366, 356, 20, '#d9a766') +
  disc(432, 386, 18, '#d9a766') +
  disc(420, 348, 17, '#d9a766') +
  line('M378 370 q10 8 22 0 M410 380 q10 6 18 -2', '#a8763b', 4) +
  leaf(372, 410, 0.36, -50);

function cup(colour: Fill, drink: Fill) {
  return (
    shadow(190, 400, 506) +
    oval(400, 484, 170, 24, colour) +
    oval(400, 478, 120, 14, SHADE) +
    line('M496 352 C572 340 572 438 478 436', colour, 22) +
    shape('M296 322 H504 C504 430 468 482 400 482 C332 482 296 430 296 322 Z', colour) +
    shape('M462 322 H504 C504 430 468 482 400 482 C448 460 464 410 462 322 Z', SHADE) +
    oval(400, 322, 104, 22, '#ffffffd0') +
    oval(400, 325, 92, 16, drink)
  );
}

/** Stands on y 0, 370 high. */
function bottle(glass: Fill, label: Fill, cap: Fill) {
  return (
    shape(
      'M-20 -350 H20 L22 -258 C22 -222 56 -208 56 -166 V-16 Q56 0 40 0 H-40 Q-56 0 -56 -16 V-166 C-56 -208 -22 -222 -22 -258 Z',
      glass,
    ) +
    rect(-25, -368, 50, 26, cap, 5) +
    rect(-56, -148, 112, 96, label) +
    rect(28, -166, 28, 160, SHADE, 8) +
    rect(-44, -170, 10, 150, SHINE, 5)
  );
}

const cola =
  bottle('#4a2a1f', RUST, '#d8d8d2') + disc(0, -100, 26, CREAM) + line('M-12 -100 q12 -18 24 0', RUST, 6);
const lemonade = bottle('#d9e2a8', '#f3d653', '#f3efe2') + disc(0, -100, 28, CREAM) + lemon(0, -100, 0.5);
const cider = bottle('#3f5a3a', CREAM, BRASS) + apple(0, -98, 0.42);

function lemon(x: number, y: number, scale: number) {
  return moved(
    x,
    y,
    scale,
    0,
    disc(0, 0, 50, '#f0cf3c'),
    disc(0, 0, 40, '#fbf3c4'),
    times(6, (index) => moved(0, 0, 1, index * 60, shape('M0 -5 L15 -34 Q0 -42 -15 -34 Z', '#f5dd6b'))),
  );
}

function apple(x: number, y: number, scale: number) {
  return moved(
    x,
    y,
    scale,
    0,
    shape(
      'M0 -36 C34 -66 92 -40 76 20 C64 62 34 76 0 62 C-34 76 -64 62 -76 20 C-92 -40 -34 -66 0 -36 Z',
      RUST,
    ),
    shape('M38 -48 C84 -44 88 0 74 28 C62 60 34 74 10 65 C58 50 70 0 38 -48 Z', SHADE),
    line('M0 -34 Q2 -62 16 -74', '#5b3a26', 8),
    leaf(44, -72, 0.5, 70),
  );
}

const crate =
  shadow(240) +
  times(6, (index) => moved(218 + index * 73, 440, 0.62, 0, lemonade)) +
  rect(170, 320, 460, 180, '#3d7a80', 12) +
  rect(590, 320, 40, 180, SHADE, 12) +
  times(2, (index) => rect(206 + index * 216, 348, 172, 124, '#2f646a', 10)) +
  rect(340, 332, 120, 26, '#24525a', 13) +
  lemon(292, 410, 0.8) +
  lemon(508, 410, 0.8);

const cheers =
  shadow(70, 330) +
  shape('M272 230 H390 L374 492 Q331 502 288 492 Z', '#ffffff90') +
  shape('M277 292 H385 L373 484 Q331 494 289 484 Z', '#e3a93f') +
  oval(331, 292, 54, 10, '#fbf0cf') +
  times(7, (index) => disc(305 + ((index * 37) % 56), 330 + index * 21, 4, '#ffffffa0')) +
  rect(290, 250, 9, 220, SHINE, 4);

/** Lies from left to right around 0, 0: 560 long. */
function knife(blade: number) {
  const tip = -60 - blade;
  return (
    shape(`M${tip} 22 C${tip + 120} -30 0 -44 60 -44 V46 C0 60 ${tip + 140} 62 ${tip} 22 Z`, STEEL) +
    shape(`M${tip} 22 C${tip + 140} 62 0 60 60 46 V18 C0 34 ${tip + 160} 40 ${tip} 22 Z`, '#e6ecef') +
    rect(58, -46, 26, 96, '#8c979d', 4) +
    shape('M82 -42 H232 Q270 -36 268 10 Q262 44 226 40 L82 46 Z', '#6e4c31') +
    shape('M82 14 L266 18 Q260 44 226 40 L82 46 Z', SHADE) +
    times(3, (index) => disc(116 + index * 54, 0, 8, BRASS))
  );
}

const chopping =
  rect(130, 190, 540, 290, WOOD, 36) +
  times(5, (index) =>
    line(
      `M160 ${236 + index * 50} C300 ${222 + index * 50} 480 ${252 + index * 50} 640 ${234 + index * 50}`,
      '#9c7145',
      4,
    ),
  );

const stone =
  shape('M200 452 L262 512 L676 444 L640 416 Z', SHADE) +
  shape('M176 372 L560 318 L650 376 L262 440 Z', '#d8c7a6') +
  shape('M176 372 L262 440 V472 L176 402 Z', '#b39d78') +
  shape('M262 440 L650 376 V408 L262 472 Z', '#c4b08b') +
  shape('M176 402 L262 472 V500 L176 430 Z', '#5f8088') +
  shape('M262 472 L650 408 V436 L262 500 Z', '#76979f');

function kettle(light: Fill) {
  return (
    shadow(165, 400, 516) +
    line('M306 258 C196 250 196 442 286 446', INK, 24) +
    shape('M492 276 L572 220 L600 238 L514 372 Z', '#a9b4ba') +
    shape('M304 244 H496 C506 330 524 420 528 494 H272 C276 420 294 330 304 244 Z', STEEL) +
    shape('M452 244 H496 C506 330 524 420 528 494 H476 C474 410 466 330 452 244 Z', SHADE) +
    shape('M312 244 Q400 158 488 244 Z', '#aab6bc') +
    disc(400, 188, 15, INK) +
    rect(258, 494, 284, 20, INK, 10) +
    disc(400, 456, 11, light) +
    rect(326, 276, 12, 180, SHINE, 6)
  );
}

function espressoMachine(body: Fill) {
  return (
    shadow(210, 400, 512) +
    times(3, (index) => shape(`M${300 + index * 70} 128 h48 q0 34 -24 34 q-24 0 -24 -34 Z`, CREAM)) +
    rect(228, 162, 344, 34, INK, 10) +
    rect(240, 190, 320, 310, body, 22) +
    rect(512, 190, 48, 310, SHADE, 22) +
    rect(278, 286, 244, 170, '#2b353c', 12) +
    rect(362, 262, 76, 44, STEEL, 8) +
    rect(374, 300, 52, 20, '#8c979d', 4) +
    rect(420, 302, 126, 18, '#6e4c31', 9) +
    line('M388 322 v18 M412 322 v18', '#8c979d', 8) +
    shape('M372 388 h56 q0 46 -28 46 q-28 0 -28 -46 Z', CREAM) +
    line('M430 398 q22 4 0 26', CREAM, 7) +
    line('M394 344 v42 M406 344 v42', '#7a4a25', 4) +
    rect(262, 462, 276, 20, STEEL, 6) +
    disc(310, 240, 26, CREAM) +
    `<circle cx="310" cy="240" r="26" fill="none" stroke="${BRASS}" stroke-width="6"/>` +
    line('M310 240 L322 226', RUST, 5) +
    disc(490, 240, 10, AMBER) +
    disc(456, 240, 10, '#ffffff70') +
    line('M552 236 L612 196', STEEL, 12) +
    disc(618, 192, 17, '#6e4c31')
  );
}

const grinder =
  shadow(130, 400, 512) +
  shape('M300 140 H500 L462 262 H338 Z', '#dfeaeeb0') +
  shape('M312 178 H488 L462 262 H338 Z', BEAN) +
  times(7, (index) =>
    bean(334 + ((index * 43) % 138), 196 + ((index * 19) % 44), 0.6, index * 40, '#6f4a33'),
  ) +
  rect(292, 124, 216, 22, INK, 9) +
  rect(322, 258, 156, 242, '#31505f', 18) +
  rect(440, 258, 38, 242, SHADE, 14) +
  rect(312, 256, 176, 26, BRASS, 8) +
  times(9, (index) => rect(324 + index * 18, 262, 4, 14, '#00000040', 2)) +
  rect(344, 392, 112, 86, CREAM, 8) +
  disc(400, 418, 9, BRASS) +
  disc(400, 338, 24, '#25404d') +
  line('M400 338 L412 322', CREAM, 6) +
  rect(306, 496, 188, 14, INK, 6);

/** Stands on 400, 500. */
function lantern(metal: Fill, isLit: boolean, scale = 1) {
  const glass = isLit ? '#ffe9ad' : '#eef3f2b0';
  return moved(
    400,
    500,
    scale,
    0,
    isLit ? disc(0, -180, 250, '#ffd97a18') + disc(0, -180, 180, '#ffd97a2c') : oval(0, 2, 130, 14, SHADE),
    rect(-112, -26, 224, 26, metal, 8),
    rect(-90, -48, 180, 24, metal, 6),
    rect(-76, -264, 152, 220, glass, 60),
    isLit ? disc(0, -150, 36, '#fffbe9') : line('M-14 -150 q14 -26 28 0', BRASS, 5),
    line('M-76 -48 V-250 M76 -48 V-250 M-26 -48 V-268 M26 -48 V-268', metal, 9),
    line('M-80 -158 H80', metal, 8),
    shape('M-88 -254 H88 L52 -312 H-52 Z', metal),
    rect(-22, -334, 44, 26, metal, 6),
    `<circle cy="-358" r="26" fill="none" stroke="${metal}" stroke-width="9"/>`,
    shape('M40 -254 H88 L52 -312 H34 Z', SHADE),
    rect(72, -26, 40, 26, SHADE, 8),
  );
}

function bulb(isLit: boolean) {
  return (
    (isLit ? disc(400, 262, 240, '#ffd97a20') + disc(400, 262, 180, '#ffd97a30') : shadow(70, 400, 506)) +
    shape(
      'M400 130 C484 130 530 190 530 256 C530 330 458 344 452 404 H348 C342 344 270 330 270 256 C270 190 316 130 400 130 Z',
      isLit ? '#ffefb8' : '#fbf8ee',
    ) +
    shape(
      'M470 160 C560 220 530 310 486 348 C464 372 454 384 452 404 H420 C430 340 500 300 470 160 Z',
      '#00000012',
    ) +
    line('M372 400 V300 L386 270 L400 300 L414 270 L428 300 V400', isLit ? '#f2a516' : BRASS, 5) +
    rect(346, 402, 108, 24, '#d5dadd', 6) +
    times(3, (index) => rect(352, 428 + index * 20, 96, 16, index % 2 ? '#8c979d' : '#aeb8bd', 8)) +
    shape('M366 488 H434 L418 506 H382 Z', INK)
  );
}

function coil(rings: number, colour: Fill) {
  const twist = 'stroke-dasharray="3 19"';
  return (
    oval(400, 486, 250, 40, SHADE) +
    times(rings, (index) => {
      const y = 456 - index * 44;
      const course = `M190 ${y} a210 58 0 1 0 420 0 a210 58 0 1 0 -420 0`;
      return line(course, '#00000030', 48) + line(course, colour, 42) + line(course, '#00000028', 36, twist);
    }) +
    line('M604 440 C690 452 700 520 628 528', colour, 40) +
    line('M604 440 C690 452 700 520 628 528', '#00000028', 34, twist) +
    line('M622 512 v32', RUST, 16)
  );
}

/** A reef knot. */
const knot = (() => {
  const twist = 'stroke-dasharray="3 17"';
  const strand = (course: string, colour: Fill) =>
    line(course, '#00000030', 46) + line(course, colour, 40) + line(course, '#00000028', 34, twist);
  return (
    strand('M110 240 C300 230 330 400 440 400 C540 400 540 240 440 240 C420 240 400 250 384 270', '#d8c49a') +
    strand('M690 400 C500 410 470 240 360 240 C260 240 260 400 360 400 C380 400 400 390 416 370', '#8fa9b0') +
    strand('M352 336 C320 380 260 410 110 400', '#d8c49a') +
    strand('M448 306 C480 260 540 230 690 240', '#8fa9b0')
  );
})();

function board(motif: string) {
  return (
    shape(
      'M150 270 Q150 226 200 224 L610 214 Q664 214 664 262 L660 420 Q658 462 612 462 L196 470 Q150 468 150 426 Z',
      '#00000020',
    ) +
    shape(
      'M140 256 Q140 212 190 210 L600 200 Q654 200 654 248 L650 406 Q648 448 602 448 L186 456 Q140 454 140 412 Z',
      WOOD,
    ) +
    times(6, (index) =>
      line(
        `M166 ${240 + index * 36} C300 ${226 + index * 36} 470 ${258 + index * 34} 632 ${232 + index * 36}`,
        '#9c714560',
        4,
      ),
    ) +
    disc(604, 326, 22, MOODS.moss[0]) +
    motif
  );
}

const loaf =
  shape(
    'M230 380 C220 270 300 232 380 234 C480 236 520 280 516 380 Q516 404 490 404 H258 Q230 404 230 380 Z',
    '#b5793f',
  ) + times(3, (index) => line(`M${296 + index * 70} 262 q26 34 8 92`, '#e3bd84', 12));

function sock(colour: Fill, x: number, turn: number) {
  return moved(
    x,
    0,
    1,
    turn,
    shape(
      'M-60 130 H60 V330 C60 360 80 372 130 396 C186 424 172 492 110 492 H10 C-50 492 -64 440 -62 400 Z',
      colour,
    ),
    rect(-66, 120, 132, 44, CREAM, 12),
    rect(-66, 176, 128, 10, CREAM),
    shape('M-62 404 C-64 440 -50 492 10 492 H30 C-10 470 -24 430 -20 396 Z', SHADE),
    shape('M128 396 C188 424 172 492 110 492 H84 C120 470 126 430 128 396 Z', '#ffffff30'),
    anchor(0, 262, 0.75, CREAM),
  );
}

const waves = (x: number, y: number, colour: Fill) =>
  times(3, (index) => line(`M${x} ${y + index * 26} q20 -18 40 0 t40 0 t40 0 t40 0`, colour, 8));

const reader =
  shadow(150, 400, 506) +
  rect(268, 120, 264, 384, INK, 24) +
  rect(292, 148, 216, 300, '#f2efe6', 6) +
  disc(400, 232, 46, '#d7d2c4') +
  waves(320, 236, '#5a6872') +
  times(6, (index) => rect(318, 322 + index * 19, index === 5 ? 96 : 164, 7, '#9aa19f', 3)) +
  disc(400, 476, 10, '#56636e');

const lighthouse = (x: number, y: number, scale: number) =>
  moved(
    x,
    y,
    scale,
    0,
    shape('M-30 0 L-20 -130 H20 L30 0 Z', CREAM),
    shape('M-26.5 -46 L-23.5 -86 H23.5 L26.5 -46 Z', RUST),
    rect(-28, -142, 56, 12, INK, 4),
    rect(-16, -170, 32, 28, '#ffe08a'),
    shape('M-24 -170 L0 -196 L24 -170 Z', RUST),
  );

function book(cover: Fill, motif: string) {
  return (
    shadow(160, 400, 506) +
    rect(278, 126, 258, 372, '#f6f1e3', 6) +
    rect(266, 118, 262, 376, cover, 8) +
    rect(266, 118, 28, 376, '#00000030', 8) +
    rect(312, 148, 194, 316, '#ffffff18', 6) +
    motif
  );
}

const pot =
  rect(344, 336, 136, 92, CREAM, 16) +
  rect(330, 322, 164, 20, CREAM, 10) +
  rect(398, 304, 28, 20, CREAM, 8) +
  line('M328 362 h-14 M496 362 h14', CREAM, 14) +
  steam(411, 288, '#ffffff90');

const openBook =
  oval(400, 470, 290, 26, SHADE) +
  shape('M400 250 C340 210 220 206 130 232 V446 C220 424 340 426 400 466 Z', '#fbf7ec') +
  shape('M400 250 C460 210 580 206 670 232 V446 C580 424 460 426 400 466 Z', '#f1ead9') +
  times(6, (index) =>
    line(
      `M168 ${272 + index * 26} C240 ${258 + index * 26} 310 ${262 + index * 26} 366 ${284 + index * 26}`,
      '#b9b3a4',
      6,
    ),
  ) +
  moved(
    534,
    344,
    0.9,
    4,
    rect(-92, -76, 184, 152, '#8fb0b5', 8),
    oval(0, 40, 70, 24, '#5f8088'),
    moved(-411, -366, 1, 0, pot),
  );

function headphones(colour: Fill) {
  return (
    shadow(190, 400, 506) +
    line('M234 400 V330 C234 130 566 130 566 330 V400', INK, 26) +
    line('M252 330 C260 164 540 164 548 330', '#ffffff20', 8) +
    rect(196, 344, 84, 152, colour, 34) +
    rect(520, 344, 84, 152, colour, 34) +
    rect(252, 352, 34, 136, INK, 16) +
    rect(514, 352, 34, 136, INK, 16) +
    rect(208, 368, 10, 96, SHINE, 5)
  );
}

const sound = times(11, (index) => {
  const height = [40, 86, 130, 74, 168, 210, 150, 92, 136, 70, 36][index]!;
  return rect(192 + index * 40, 300 - height / 2, 16, height, index % 2 ? RUST : '#3d7a80', 8);
});

const spoon = (colour: Fill) =>
  moved(
    400,
    340,
    1,
    -28,
    line('M-40 0 H240', colour, 30),
    oval(-110, 0, 96, 62, colour),
    oval(-116, -4, 72, 42, '#00000028'),
    line('M-20 -6 H230', '#ffffff30', 5),
  );

const honey =
  shadow(110, 300, 506) +
  rect(214, 262, 172, 240, '#f2c14ec0', 28) +
  rect(222, 312, 156, 184, '#d98a1f', 22) +
  rect(206, 236, 188, 40, WOOD, 12) +
  rect(236, 290, 10, 180, SHINE, 5);

const MACHINE = '#c8553d';

/** The pictures of each product in their order; what is not named has none, or its master's. */
export const demoPictures: Readonly<Record<string, readonly string[]>> = {
  'CB-100': [
    scene('sand', bag('#3a2a22'), bean(212, 486, 0.8, 20), bean(590, 492, 0.9, -25), bean(642, 470, 0.7, 50)),
    scene(
      'rose',
      seen(1.15, -8, bag('#3a2a22')),
      times(9, (index) => bean(90 + index * 78, 536 + ((index * 29) % 36), 0.9, index * 47)),
    ),
  ],
  'CB-200': [
    scene('foam', brick()),
    scene('sand', moved(-70, 10, 1, 0, brick()), scoop, oval(560, 520, 120, 16, '#3f2919')),
  ],
  'TE-100': [
    scene('moss', tin('#6b8f4e', leaf(400, 364, 1.1))),
    scene(
      'foam',
      steam(400, 280),
      cup('#f7f4ea', '#c3cf78'),
      leaf(618, 486, 0.6, 70),
      leaf(180, 500, 0.5, -60),
    ),
  ],
  'TE-110': [scene('rose', tin('#8f3b34', ferry)), scene('sky', steam(400, 280), cup('#2f5566', '#8a3d1c'))],
  'TE-120': [
    scene('sand', tin('#d08a3a', ginger)),
    scene('moss', steam(400, 280), cup('#c8553d', '#e0b455'), moved(240, 120, 1, 0, ginger)),
  ],
  'DR-100': [
    scene('foam', shadow(75), moved(400, 500, 1, 0, cola)),
    scene(
      'rose',
      shadow(250),
      times(6, (index) => moved(205 + index * 78, 500, 0.66, 0, cola)),
    ),
  ],
  'DR-110': [
    scene('sky', crate),
    scene(
      'moss',
      shadow(75, 340),
      moved(340, 500, 1, 0, lemonade),
      lemon(510, 448, 1.1),
      lemon(602, 462, 0.8),
    ),
  ],
  'DR-120': [
    scene('moss', shadow(75), moved(400, 500, 1, 0, cider)),
    scene('sand', cheers, moved(500, 500, 1, 0, cider), apple(620, 448, 0.72)),
  ],
  'KN-100': [
    scene('foam', moved(420, 368, 1, 0, oval(-20, 62, 300, 12, SHADE), knife(250))),
    scene('sand', chopping, moved(420, 330, 1.02, -24, knife(250))),
  ],
  'KN-110': [
    scene('sky', moved(370, 380, 0.9, 0, oval(60, 62, 230, 12, SHADE), knife(110))),
    scene(
      'rose',
      shadow(90, 580, 480),
      apple(580, 396, 1.2),
      oval(330, 498, 210, 10, SHADE),
      moved(270, 452, 0.9, -4, knife(110)),
    ),
  ],
  'KN-120': [scene('sand', stone), scene('foam', stone, moved(430, 316, 0.9, -8, knife(230)))],
  'AP-100': [scene('sky', kettle(AMBER)), scene('rose', seen(1.12, 0, steam(610, 200), kettle('#e2452e')))],
  'AP-110': [
    scene('sand', espressoMachine(MACHINE)),
    scene('foam', moved(-330, -330, 1.75, 0, espressoMachine(MACHINE))),
    scene('moss', moved(-310, -150, 2, 0, espressoMachine(MACHINE))),
    scene('night', disc(400, 300, 280, '#ffd97a14'), espressoMachine(MACHINE)),
  ],
  'AP-120': [scene('rose', grinder), scene('sky', moved(-180, -150, 1.45, 0, grinder))],
  'LA-100': [
    scene(
      'sky',
      moved(-150, 0, 1, 0, lantern(BRASS, false)),
      moved(160, 0, 1, 0, lantern(SLATE, false, 0.82)),
    ),
    scene(
      'night',
      moved(-150, 0, 1, 0, lantern(BRASS, true)),
      moved(160, 0, 1, 0, lantern(SLATE, true, 0.82)),
    ),
  ],
  'LA-101': [scene('foam', lantern(BRASS, false, 0.85)), scene('night', lantern(BRASS, true, 0.85))],
  'LA-102': [scene('rose', lantern(BRASS, false, 1.15)), scene('night', lantern(BRASS, true, 1.15))],
  'LA-103': [scene('sand', lantern(SLATE, false, 0.85)), scene('night', lantern(SLATE, true, 0.85))],
  'LA-110': [scene('sky', bulb(false)), scene('night', bulb(true))],
  'RO-100': [scene('foam', coil(4, '#d8c49a')), scene('sand', knot)],
  'GI-100': [
    scene('moss', board(anchor(372, 330, 1.5, '#6e4c31'))),
    scene('moss', board(''), moved(10, -40, 1, 0, loaf), moved(520, 270, 0.6, 60, knife(150))),
  ],
  'GI-120': [
    scene('sky', shadow(240, 430, 504), sock('#31505f', 300, 0), sock(RUST, 480, 0)),
    scene('sand', shadow(120, 405, 532), moved(-60, -60, 1.2, 6, sock(NAVY, 380, 0))),
  ],
  'BK-100': [scene('sand', reader), scene('sky', seen(1.1, 9, reader))],
  'BK-110': [scene('foam', book('#31505f', pot)), scene('rose', openBook)],
  'BK-120': [
    scene('moss', headphones(RUST)),
    scene('foam', moved(0, -110, 1, 0, sound), moved(160, 196, 0.6, 0, headphones(RUST))),
  ],
  'ZZ-110': [
    scene('sand', oval(400, 470, 210, 18, SHADE), spoon(WOOD)),
    scene('rose', honey, moved(150, 10, 0.9, 0, spoon(WOOD))),
  ],
};

/** Of the category Coffee. */
export const coffeePicture = scene(
  'sand',
  steam(400, 280),
  cup(NAVY, '#5a3219'),
  times(8, (index) => bean(110 + index * 84, 550 + ((index * 23) % 34), 0.9, index * 53)),
);

/** A lighthouse over the sea, in a disc. */
export const logo =
  rect(0, 0, 800, 600, '#ffffff') +
  disc(400, 300, 260, NAVY) +
  disc(400, 300, 236, '#2f5566') +
  `<clipPath id="sea"><circle cx="400" cy="300" r="236"/></clipPath><g clip-path="url(#sea)">${shape('M400 170 L660 100 L660 230 Z', '#ffe08a40')}${rect(150, 410, 500, 150, '#16303f')}${times(4, (index) => line(`M150 ${430 + index * 30} q25 -22 50 0 t50 0 t50 0 t50 0 t50 0 t50 0 t50 0 t50 0 t50 0 t50 0`, '#8fb0b5', 7))}</g>` +
  lighthouse(400, 420, 1.5);

/** Letters as strokes, in a box of 20 x 30. */
const LETTERS: Readonly<Record<string, string>> = {
  A: 'M0 30 L10 0 L20 30 M4 19 H16',
  B: 'M2 0 V30 H10 C22 30 22 15 10 15 H2 M10 15 C20 15 20 0 10 0 H2',
  C: 'M19 6 C14 -3 1 -1 1 15 C1 31 14 33 19 24',
  D: 'M2 0 V30 H7 C23 30 23 0 7 0 H2',
  E: 'M18 0 H2 V30 H18 M2 15 H15',
  F: 'M18 0 H2 V30 M2 15 H15',
  G: 'M19 6 C14 -3 1 -1 1 15 C1 31 19 33 19 18 H11',
};

const CLASS_COLOURS = ['#1a9b48', '#52b14a', '#bfd630', '#fdee1c', '#fcb814', '#f0701f', '#e1251b'];

/** The scale from A to G, with a mark beside each class that the product has. */
export function energyLabel(classes: string): string {
  const [best, worst = best] = classes.split(',').map((name) => 'ABCDEFG'.indexOf(name));
  return (
    rect(0, 0, 800, 600, '#ffffff') +
    rect(30, 30, 740, 540, '#0b4ea2', 18) +
    rect(42, 42, 716, 516, '#ffffff', 12) +
    times(7, (index) => {
      const y = 76 + index * 66;
      const end = 260 + index * 42;
      const letter = 'ABCDEFG'[index]!;
      const isOwn = index >= best! && index <= worst!;
      return (
        shape(`M80 ${y} H${end} l34 24 l-34 24 H80 Z`, CLASS_COLOURS[index]!) +
        moved(100, y + 9, 1, 0, line(LETTERS[letter]!, index > 1 && index < 5 ? INK : '#ffffff', 5)) +
        (isOwn
          ? shape(`M720 ${y - 2} H640 l-32 26 l32 26 H720 Z`, INK) +
            moved(660, y + 9, 1, 0, line(LETTERS[letter]!, '#ffffff', 5))
          : '')
      );
    })
  );
}

/** A drawing as a file, in pixels. */
export function svgText(drawing: string, { width, height }: { width: number; height: number }): string {
  const box = `0 0 ${CANVAS.width} ${CANVAS.height}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${box}">${drawing}</svg>`;
}
