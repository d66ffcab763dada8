-- The browser that asked for an email to sign in with, where the shopper had signed in before; null: any other browser.
-- Strangers use up the emails that strangers can ask for, and not those of the shopper's own browsers.
alter table sign_in_request add column device_id text;
