// Words of a provider as they may be kept: cut, on one line, without what looks like a key, a token or an address.

const SECRETS: readonly [RegExp, string][] = [
  [/\b(bearer|basic)\s+[\w+/=.~-]{6,400}/gi, '$1 …'],
  [/([?&;](?:api[_-]?key|key|token|access_token|sig|signature|code|secret)=)[^&\s"']{1,400}/gi, '$1…'],
  [/\b(?:sk|rk|pk|xai|gsk|ghp|nvapi)[-_][\w*.-]{6,400}/gi, '…'],
  [/\b(?:AIza|AKIA|ASIA|ya29\.|eyJ)[\w.*-]{6,2000}/g, '…'],
  [/[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}/g, '…'],
  // A long run of letters and digits; names of models and quotas have neither this length nor both.
  [/\b(?=[A-Za-z_]{0,200}\d)(?=[\d_]{0,200}[A-Za-z])\w{20,2000}/g, '…'],
];

export const MAX_MESSAGE = 300;
export const MAX_CODE = 80;

/** At most `max` characters. Null where there is nothing to keep. */
export function redacted(text: string | null | undefined, max: number): string | null {
  if (text === null || text === undefined || text === '') return null;
  // Cut before it is searched: what a pattern may look at is bounded.
  let kept = text
    .slice(0, 2000)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  for (const [pattern, instead] of SECRETS) kept = kept.replaceAll(pattern, instead);
  if (kept.length > max) kept = `${kept.slice(0, max - 1).toWellFormed()}…`;
  return kept === '' ? null : kept;
}
