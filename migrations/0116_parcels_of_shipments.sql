-- The carrier's page of the first parcel, where an app has named it; null: it follows from the carrier and the code.
alter table order_shipment add column tracking_url text;
alter table order_shipment add constraint order_shipment_tracking_url check (length(tracking_url) <= 2000);

-- The parcels of a shipment after its first one, whose code is in order_shipment.
create table order_parcel (
  shop_id text not null,
  order_id uuid not null,
  shipment_id uuid not null,
  -- 2, 3, ...
  position smallint not null,
  tracking_code text not null,
  -- As in order_shipment.
  tracking_url text,
  constraint order_parcel_pkey primary key (shop_id, order_id, shipment_id, position),
  constraint order_parcel_shipment foreign key (shop_id, order_id, shipment_id)
    references order_shipment (shop_id, order_id, shipment_id) on delete cascade,
  constraint order_parcel_position check (position between 2 and 20),
  constraint order_parcel_tracking_code check (length(tracking_code) between 1 and 200),
  constraint order_parcel_tracking_url check (length(tracking_url) <= 2000)
);

-- As order_shipment_tracking: tracking numbers are printed in groups and typed without them.
create index order_parcel_tracking on order_parcel
  (shop_id, (upper(regexp_replace(tracking_code, '[\s.-]', '', 'g'))) text_pattern_ops);
