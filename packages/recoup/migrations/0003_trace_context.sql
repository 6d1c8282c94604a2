-- Trace context: which trace a job was submitted in, so that a worker's span can link to it. Older code leaves it empty.

-- The shape of W3C traceparent. The new column is empty, yet the table is read once to say so: a second per million rows.
alter table recoup.jobs add column traceparent text
  constraint jobs_traceparent check (traceparent ~ '^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$');
