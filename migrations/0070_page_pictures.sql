-- The uploaded pictures that a version of a page names, so that the media library finds the pages that show a picture,
-- and the clean-up the pictures that a restored version needs, without reading all contents.
alter table page_version add column image_keys uuid[] not null default '{}';

update page_version set image_keys = array(
  select distinct (found.parts)[1]::uuid
  from regexp_matches(
    content::text, '/media/[^/"]+/([0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})/', 'g') as found (parts));
