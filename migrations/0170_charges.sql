-- Payments with a token that an assistant hands over (src/orders/payments/charge.ts): nobody is sent to a page. The token
-- is kept, sealed with the key of the installation, until the outcome is known: so a process that ends between the charge
-- and its answer is followed by the same charge, with the same id, which the provider makes once.
alter table payment_attempt add column is_charge boolean not null default false;
alter table payment_attempt add column token_sealed bytea;

alter table payment_attempt add constraint payment_attempt_token check (
  token_sealed is null or (is_charge and length(token_sealed) <= 2000));
