-- Whether the pages of the shop are open to the public. A new shop is not until its merchant opens it. Shops that exist
-- go on selling, and so do those that the version before this one creates while both run.
alter table shop add column is_open boolean not null default true;

-- The preview link of a shop that is not open is derived from it; a new value ends the former link. null is a value too.
alter table shop add column preview_seed uuid;

-- A text that still has the notes to the merchant with which a new shop starts: pages and emails do not show it.
alter table legal_page add column is_draft boolean not null default false;
update legal_page set is_draft = true
where content ->> 'shortDescription' like '<p><strong>Draft.</strong> Fill in what stands in square brackets%'
  or content ->> 'shortDescription' like '<p><strong>Entwurf.</strong> Ergänzen Sie, was in eckigen Klammern%'
  or content ->> 'shortDescription' like '<p><strong>Projet.</strong> Complétez ce qui est entre crochets%';
