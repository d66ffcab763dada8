-- Former addresses of a shop and where they lead, and the addresses that visitors have asked for in vain.

create table redirect (
  shop_id text not null,
  redirect_id uuid not null,
  -- As it was entered: /de/teapots?page=1
  source text not null,
  -- By which it is found: decoded, in lower case, without a slash at the end, its parameters sorted. Byte order, because
  -- the list of the admin is read by how addresses begin.
  source_key text collate "C" not null,
  -- 301: moved for good; 410: gone for good.
  status smallint not null,
  -- A product or a category is referred to by its id, so a redirect outlives further changes of its address.
  product_id uuid,
  category_id uuid,
  address text,
  -- Of an address in this shop, in the form of source_key: its path, and each of its parameters. No redirect may lead to
  -- the source of another one.
  target_path text collate "C",
  target_parameters text[],
  -- manual, moved (an address of the shop has changed) or imported
  origin text not null,
  created_at timestamptz not null,
  constraint redirect_pkey primary key (shop_id, redirect_id),
  constraint redirect_source unique (shop_id, source_key),
  constraint redirect_status check (status in (301, 410)),
  constraint redirect_target check (num_nonnulls(product_id, category_id, address) = case status when 301 then 1 else 0 end),
  constraint redirect_lengths check (
    length(source) between 1 and 1000 and length(source_key) between 1 and 600 and length(address) between 1 and 2000),
  constraint redirect_origin check (origin in ('manual', 'moved', 'imported'))
);

create index redirect_product on redirect (shop_id, product_id);

create index redirect_category on redirect (shop_id, category_id);

create index redirect_target on redirect (shop_id, target_path) where target_path is not null;

alter table redirect add constraint redirect_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

alter table redirect add constraint redirect_of_product
  foreign key (shop_id, product_id) references product (shop_id, product_id) on delete cascade;

alter table redirect add constraint redirect_of_category
  foreign key (shop_id, category_id) references category (shop_id, category_id) on delete cascade;

-- How many redirects a shop has. Its row is locked by each write, so that two of them can't make a chain together.
insert into counter (shop_id, name, value) select shop_id, 'redirect', 0 from shop;

-- Addresses that no page answered, by day, and the pages that link to them: the merchant redirects those that matter.
-- A shop has at most some hundred rows per day, and rows end after 30 days.
create table missed_address (
  shop_id text not null,
  day date not null,
  -- In the form of redirect.source_key.
  address text collate "C" not null,
  -- The page with the link, without its parameters; empty: unknown.
  referrer text collate "C" not null,
  hits integer not null,
  constraint missed_address_pkey primary key (shop_id, day, address, referrer),
  constraint missed_address_lengths check (length(address) <= 300 and length(referrer) <= 300)
);

create index missed_address_address on missed_address (shop_id, address);

create index missed_address_day on missed_address (day);

alter table missed_address add constraint missed_address_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;
