// Whether a connection string is one, told before anything connects: what is mistyped does not get better by waiting.

const FORM = 'must be postgres://user:password@host:port/database';
const ESCAPED =
  'what is special in a user or password must be percent-encoded there: @ as %40, : as %3A, / as %2F, ? as %3F, # as %23, % as %25';

/** What is wrong with the address of a PostgreSQL (a URL, or the path of a socket), or null. It repeats nothing of it. */
export function addressProblem(address: string): string | null {
  // As pg takes them: a folder of sockets with a database behind it, and the same as a URL.
  if (/^(\/|socket:)/.test(address)) return null;
  if (!/^postgres(ql)?:\/\//.test(address)) return `${FORM}; another scheme is not known`;
  let url: URL;
  try {
    // A host that is left out (it stands in the query then) is none for `URL`.
    url = new URL(address.replace(/^(\w+:\/\/[^/?#]*@)(?=[/?]|$)/, '$1localhost'));
  } catch {
    return `${FORM}; ${ESCAPED}`;
  }
  try {
    for (const part of [url.username, url.password, url.pathname, url.search]) decodeURIComponent(part);
  } catch {
    return `${FORM}; ${ESCAPED}`;
  }
  // The user and the password end where a special character of theirs stands, and the rest is taken for something else.
  if (url.pathname.includes('@') || url.hash !== '' || /^\?[^=&]*@/.test(url.search)) return `${FORM}; ${ESCAPED}`;
  return null;
}
