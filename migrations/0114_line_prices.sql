-- The prices that apps have given for the lines of a cart, with the digest of what they were asked and the time until
-- which they need not be asked again. An input of the totals as long as the lines are those of the question. null: no app
-- was asked.
alter table cart add column line_prices jsonb;
alter table cart add constraint cart_line_prices check (length(line_prices::text) <= 100000);
