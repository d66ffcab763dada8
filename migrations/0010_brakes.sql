-- Limits on what one caller or one shop can use up: quantities, emails, unpaid stock and disk space.

-- The largest quantity of one product in an order; null: any. A product may have its own in its facts (maxOrder).
alter table shop add column max_per_order numeric(18, 6);

-- Automatic emails to one address and day that somebody without a token can cause.
alter table shop add column daily_emails_per_recipient integer not null default 20;

alter table shop add constraint shop_limits
  check (max_per_order > 0 and daily_emails_per_recipient between 1 and 1000);

-- Orders of this method that are not paid by then are cancelled; null: never.
alter table payment_method add column release_unpaid_after_days integer;

alter table payment_method add constraint payment_method_release check (release_unpaid_after_days between 1 and 365);

-- When the order is cancelled unless something was paid; from its payment method when it was placed. null: never.
alter table customer_order add column release_at timestamptz;

-- The orders that may still be released, of all shops. States below 16 are: viewed, rejected, in process, pending. An
-- order that is paid, sent, invoiced or closed, even partly, leaves the index by itself.
create index customer_order_release on customer_order (release_at, shop_id, order_id)
  where release_at is not null and cancelled_at is null and editing_app_id is null and paid_amount = 0 and states < 16;

-- The emails that were sent to one address on one day, by their ids: an email that is tried again counts once. It holds
-- no address, and a row ends two days later.
create table mail_day (
  shop_id text not null,
  -- SHA-256 of the shop and the address in lower case.
  recipient_hash bytea not null,
  -- The day (UTC) on which they were queued.
  day date not null,
  mail_ids uuid[] not null,
  constraint mail_day_pkey primary key (shop_id, recipient_hash, day)
);

alter table mail_day add constraint mail_day_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

create index mail_day_day on mail_day (day);

-- The bytes of all images of a shop's products.
insert into counter (shop_id, name, value)
select shop.shop_id, 'mediaBytes', coalesce((
    select sum((size.value ->> 'bytes')::bigint)
    from product_image image cross join lateral jsonb_each(image.sizes) as size
    where image.shop_id = shop.shop_id and jsonb_typeof(size.value) = 'object'
  ), 0)
from shop;
