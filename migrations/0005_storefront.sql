-- What the pages of a shop need beside its catalogue: its look, what visitors wish for, and who asked for a newsletter.

-- Colours, font and the like, as the settings file says them; what is missing is the built-in look.
alter table shop add column theme jsonb not null default '{}';

-- What a visitor wants to remember. The visitor is known by the hash of a secret in a cookie, and by nothing else.
create table wish (
  shop_id text not null,
  visitor_hash bytea not null,
  product_id uuid not null,
  created_at timestamptz not null,
  constraint wish_pkey primary key (shop_id, visitor_hash, product_id)
);
alter table wish add constraint wish_shop foreign key (shop_id) references shop (shop_id) on delete cascade;
alter table wish add constraint wish_product foreign key (shop_id, product_id)
  references product (shop_id, product_id) on delete cascade;
create index wish_product on wish (shop_id, product_id);
create index wish_created on wish (created_at);

-- Asked for a newsletter and not yet confirmed by the link in the mail: nobody is subscribed by somebody else.
create table newsletter_request (
  shop_id text not null,
  token_hash bytea not null,
  campaign_id uuid not null,
  email text not null,
  name text not null,
  created_at timestamptz not null,
  constraint newsletter_request_pkey primary key (shop_id, token_hash)
);
alter table newsletter_request add constraint newsletter_request_campaign
  foreign key (shop_id, campaign_id) references newsletter_campaign (shop_id, campaign_id) on delete cascade;
create index newsletter_request_campaign on newsletter_request (shop_id, campaign_id);
create index newsletter_request_created on newsletter_request (created_at);
