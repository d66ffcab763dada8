-- What a business says of itself at checkout: its checked VAT number, its reference and the number of its own order. An
-- order keeps it as it was when it was placed. null: a consumer, or nothing was said.
alter table cart add column buyer jsonb;

alter table customer_order add column buyer jsonb;

-- The last check of a customer's VAT number.
alter table customer add column vat_check jsonb;
