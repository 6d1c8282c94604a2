-- The two roles, made once by a superuser: psql -f deploy/roles.sql. The first owns the schema and migrates, the second serves.
-- Passwords come from the environment, so that they stand in no file.
\getenv owner_password RECOUP_OWNER_PASSWORD
\getenv app_password RECOUP_APP_PASSWORD
create role recoup_owner login password :'owner_password';
create role recoup_app login password :'app_password';
select format('grant create on database %I to recoup_owner', current_database()) \gexec
