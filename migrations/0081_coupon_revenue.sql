-- What the orders of each day with coupons of a campaign were worth, beside coupon_day, which counts them. Orders are
-- counted as they were placed, and since this table is there.
create table coupon_revenue (
  shop_id text not null,
  campaign_id uuid not null,
  day date not null,
  currency text not null,
  orders bigint not null,
  -- Minor units, with tax and delivery.
  revenue bigint not null,
  constraint coupon_revenue_pkey primary key (shop_id, campaign_id, day, currency)
);

alter table coupon_revenue add constraint coupon_revenue_campaign foreign key (shop_id, campaign_id)
  references coupon_campaign (shop_id, campaign_id) on delete cascade;
