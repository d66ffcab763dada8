-- Pictures that a merchant has uploaded for the look of the shop: the logo, the front page. Those of products stay in
-- product_image.
create table library_image (
  shop_id text not null,
  -- The folder of its files, as in product_image.
  image_key uuid not null,
  -- The name of the uploaded file. Several pictures may have the same.
  name text not null,
  sizes jsonb not null,
  -- What it shows, by locale, for people who do not see it.
  alt_texts jsonb not null default '{}',
  created_at timestamptz not null,
  constraint library_image_pkey primary key (shop_id, image_key),
  constraint library_image_alt_texts check (jsonb_typeof(alt_texts) = 'object'),
  constraint library_image_shop foreign key (shop_id) references shop (shop_id) on delete cascade
);

-- The media library finds pictures by the beginning of their name, page by page.
create index library_image_name on library_image (shop_id, lower(name) collate "C", image_key);
create index product_image_name on product_image (shop_id, lower(name) collate "C", image_key);
