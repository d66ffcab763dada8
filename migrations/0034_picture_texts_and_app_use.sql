-- What a picture shows, for people who do not see it: {"en_GB": "A brass lamp on a desk"}. A language without a text is
-- missing, and the name of the product is said instead.
alter table product_image add column alt_texts jsonb not null default '{}';

alter table product_image add constraint product_image_alt_texts check (jsonb_typeof(alt_texts) = 'object');

-- How often an app has called, by day (UTC). Counted in memory and written from time to time, never with a request.
create table app_use (
  shop_id text not null,
  app_id uuid not null,
  day date not null,
  calls bigint not null,
  -- Of these, how many were refused or failed.
  errors bigint not null,
  constraint app_use_pkey primary key (shop_id, app_id, day)
);

alter table app_use add constraint app_use_app foreign key (shop_id, app_id) references app (shop_id, app_id)
  on delete cascade;

-- Old days are deleted over all shops.
create index app_use_day on app_use (day);
