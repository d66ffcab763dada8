-- How coupons are used over time, and reminders of abandoned carts.

-- Orders with a code of the campaign, per day (UTC). An order that is cancelled later stays counted here: this is how
-- the campaign works, and coupon_campaign.used is how much of it is left.
create table coupon_day (
  shop_id text not null,
  campaign_id uuid not null,
  day date not null,
  orders bigint not null,
  constraint coupon_day_pkey primary key (shop_id, campaign_id, day)
);

alter table coupon_day add constraint coupon_day_campaign foreign key (shop_id, campaign_id)
  references coupon_campaign (shop_id, campaign_id) on delete cascade;

-- When the email was sent that reminds of the cart: once, whatever becomes of it.
alter table cart add column reminded_at timestamptz;
