-- Pages that a shop writes itself, posts among them. The front page and the top of a category are of the same kind: what
-- they show is a list of blocks, too.
create table page (
  shop_id text not null,
  page_id uuid not null,
  kind text not null,
  -- The category whose top it is.
  category_id uuid,
  -- From this moment on it is public; null: it is a draft. Nothing has to run at that moment.
  publish_at timestamptz,
  author text,
  -- The picture of a post in lists, as an address.
  picture text,
  -- Counts the saved versions.
  version bigint not null,
  created_at timestamptz not null,
  changed_at timestamptz not null,
  constraint page_pkey primary key (shop_id, page_id),
  constraint page_kind check (kind in ('page', 'post', 'home', 'category')),
  constraint page_category_kind check ((category_id is not null) = (kind = 'category')),
  constraint page_author check (length(author) <= 100),
  constraint page_picture check (length(picture) <= 2000)
);

alter table page add constraint page_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

alter table page add constraint page_category
  foreign key (shop_id, category_id) references category (shop_id, category_id) on delete cascade;

-- A shop has one front page, and a category one top.
create unique index page_of_home on page (shop_id) where kind = 'home';
create unique index page_of_category on page (shop_id, category_id) where category_id is not null;
-- The list of pages, and the list of posts with the newest first.
create index page_listed on page (shop_id, kind, publish_at desc, page_id);

create table page_text (
  shop_id text not null,
  page_id uuid not null,
  locale text not null,
  -- The kind of its page, because pages and posts have addresses of their own: /pages/<slug>, /posts/<slug>.
  kind text not null,
  -- null: the front page and the top of a category have no address of their own.
  slug text,
  -- null: the front page is called as the shop, the top of a category as the category.
  title text,
  page_title text,
  description text,
  summary text,
  picture_text text,
  blocks jsonb not null,
  constraint page_text_pkey primary key (shop_id, page_id, locale),
  constraint page_text_slug unique (shop_id, locale, kind, slug),
  constraint page_text_slug_kind check ((slug is not null) = (kind in ('page', 'post'))),
  constraint page_text_title_kind check (title is not null or kind in ('home', 'category')),
  constraint page_text_blocks check (jsonb_typeof(blocks) = 'array' and jsonb_array_length(blocks) <= 60),
  constraint page_text_lengths check (
    length(slug) <= 100 and length(title) <= 200 and length(page_title) <= 200 and length(description) <= 500
    and length(summary) <= 1000 and length(picture_text) <= 500)
);

alter table page_text add constraint page_text_page
  foreign key (shop_id, page_id) references page (shop_id, page_id) on delete cascade;

-- What a page was before it was saved again, for people who want it back. The newest are kept.
create table page_version (
  shop_id text not null,
  page_id uuid not null,
  version bigint not null,
  saved_at timestamptz not null,
  author text not null,
  content jsonb not null,
  constraint page_version_pkey primary key (shop_id, page_id, version),
  constraint page_version_author check (length(author) <= 254)
);

alter table page_version add constraint page_version_page
  foreign key (shop_id, page_id) references page (shop_id, page_id) on delete cascade;
