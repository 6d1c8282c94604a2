-- The two roles, made once by a superuser: psql -d recoup -f deploy/roles.sql. The first owns the schema and migrates, the second serves.
-- Passwords come from the environment, so that they stand in no file.
\set ON_ERROR_STOP on
\getenv owner_password RECOUP_OWNER_PASSWORD
\getenv app_password RECOUP_APP_PASSWORD
\if :{?owner_password}
\else
  \warn 'Set RECOUP_OWNER_PASSWORD and RECOUP_APP_PASSWORD in the environment; nothing was made.'
  \quit
\endif
\if :{?app_password}
\else
  \warn 'Set RECOUP_OWNER_PASSWORD and RECOUP_APP_PASSWORD in the environment; nothing was made.'
  \quit
\endif
create role recoup_owner login password :'owner_password';
create role recoup_app login password :'app_password';
select format('grant create on database %I to recoup_owner', current_database()) \gexec
