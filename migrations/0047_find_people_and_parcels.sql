-- Merchants find a customer by telephone, street and postcode, and an order by where it went and by its tracking number.
-- These are indexes on what is stored already: nothing has to be filled, an older version that still runs keeps them up to
-- date, and an erasure removes the entries with the data. While an index is built,
-- the customers or orders of all shops wait to be written, as with the indexes of earlier migrations.

-- Telephone numbers are compared from their last digit backwards, without what is not dialled everywhere: the signs
-- between the digits, `(0)` and the zeros in front. Four fields of an address hold one; most customers have one or none.
create index customer_phone on customer (shop_id, (reverse(ltrim(regexp_replace(replace(
  billing_address ->> 'phoneNumber', '(0)', ''), '\D', '', 'g'), '0'))) text_pattern_ops)
  where billing_address ->> 'phoneNumber' is not null;

create index customer_mobile_phone on customer (shop_id, (reverse(ltrim(regexp_replace(replace(
  billing_address ->> 'mobilePhoneNumber', '(0)', ''), '\D', '', 'g'), '0'))) text_pattern_ops)
  where billing_address ->> 'mobilePhoneNumber' is not null;

create index customer_business_phone on customer (shop_id, (reverse(ltrim(regexp_replace(replace(
  billing_address ->> 'businessPhoneNumber', '(0)', ''), '\D', '', 'g'), '0'))) text_pattern_ops)
  where billing_address ->> 'businessPhoneNumber' is not null;

create index customer_private_phone on customer (shop_id, (reverse(ltrim(regexp_replace(replace(
  billing_address ->> 'privatePhoneNumber', '(0)', ''), '\D', '', 'g'), '0'))) text_pattern_ops)
  where billing_address ->> 'privatePhoneNumber' is not null;

create index customer_street on customer (shop_id, (lower(billing_address ->> 'street')) text_pattern_ops);

-- `SW1A 1AA` is also typed as `sw1a1aa`.
create index customer_zip_code on customer
  (shop_id, (lower(replace(billing_address ->> 'zipCode', ' ', ''))) text_pattern_ops);

-- Where a parcel goes to somebody else, that person or that address is looked for.
create index customer_order_delivery_name on customer_order
  (shop_id, (lower(shipping_address ->> 'lastName')) text_pattern_ops) where shipping_address is not null;

create index customer_order_delivery_street on customer_order
  (shop_id, (lower(shipping_address ->> 'street')) text_pattern_ops) where shipping_address is not null;

create index customer_order_delivery_zip_code on customer_order
  (shop_id, (lower(replace(shipping_address ->> 'zipCode', ' ', ''))) text_pattern_ops)
  where shipping_address is not null;

-- Tracking numbers are printed in groups and typed without them.
create index order_shipment_tracking on order_shipment
  (shop_id, (upper(regexp_replace(tracking_code, '[\s.-]', '', 'g'))) text_pattern_ops) where tracking_code is not null;

-- The documents of a period, for the accountant.
create index order_document_issued on order_document (shop_id, issued_at, document_id);
