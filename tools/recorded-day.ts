// The recorded day that `recoup upstreams simulate --example` runs: five upstreams and what went wrong with each. The same text every time.

interface Line {
  at: string;
  upstream: string;
  [field: string]: unknown;
}
type Answer = Record<string, unknown>;
type At = { ms: number; first: boolean };

const DAY = Date.parse('2026-03-10T00:00:00Z');
const MINUTE = 60_000;
/** `09:41:20` of the day. */
const on = (time: string) => Date.parse(`2026-03-10T${time}Z`);
const iso = (ms: number) => new Date(ms).toISOString();

/** Uneven, and the same on every machine (Park and Miller). */
function uneven(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % most;
  };
}

const ACCOUNTS: Readonly<Record<string, Answer>> = {
  'claude-seat': { provider: 'anthropic', pool: 'chat' },
  'claude-key': { provider: 'anthropic', pool: 'chat' },
  'gpt-main': { provider: 'openai', pool: 'chat', route: 'egress-eu' },
  'gemini-free': { provider: 'gemini', pool: 'drafts', quotaGroup: 'project-7' },
  'azure-eu': { provider: 'azure-openai', pool: 'drafts' },
};
const MODELS: Readonly<Record<string, string>> = {
  'claude-seat': 'claude-sonnet-4-5',
  'claude-key': 'claude-sonnet-4-5',
  'gpt-main': 'gpt-4o',
  'gemini-free': 'gemini-2.5-pro',
  'azure-eu': 'gpt-4o-eu',
};

/** What all answers of an API carry. */
const common = (ms: number, more: Answer = {}) => ({
  date: new Date(ms).toUTCString(),
  'content-type': 'application/json',
  ...more,
});

const claudeError = (type: string, message: string, ms: number) => ({
  type: 'error',
  error: { type, message },
  request_id: `req_${ms.toString(36)}`,
});

/** The windows of the seat end at 03:00, 08:00, 13:00 …; that of 08:00 is used up at 9:41. */
function windowEnd(ms: number): number {
  const [first, length] = [on('03:00:00'), 5 * 60 * MINUTE];
  return first + Math.max(0, Math.floor((ms - first) / length) + 1) * length;
}

function seatHeaders(ms: number, used: number, rejected = false): Answer {
  const reset = windowEnd(ms) / 1000;
  const start = 'anthropic-ratelimit-unified';
  return common(ms, {
    [`${start}-status`]: rejected ? 'rejected' : 'allowed',
    [`${start}-reset`]: String(reset),
    [`${start}-5h-status`]: rejected ? 'rejected' : 'allowed',
    [`${start}-5h-reset`]: String(reset),
    [`${start}-5h-utilization`]: rejected ? '1.0' : used.toFixed(2),
    [`${start}-7d-status`]: 'allowed',
    [`${start}-7d-reset`]: String(on('12:00:00') / 1000 + 2 * 86_400),
    [`${start}-7d-utilization`]: '0.5',
    [`${start}-representative-claim`]: 'five_hour',
    ...(rejected && { 'retry-after': String(Math.ceil(reset - ms / 1000)) }),
  });
}

const keyHeaders = (ms: number, left: number) =>
  common(ms, {
    'anthropic-ratelimit-output-tokens-limit': '8000',
    'anthropic-ratelimit-output-tokens-remaining': String(left),
    'anthropic-ratelimit-output-tokens-reset': iso(ms - (ms % 1000) + (left === 0 ? 20_000 : 4000)),
    ...(left === 0 && { 'retry-after': '12' }),
  });

const success: Readonly<Record<string, (ms: number, random: (most: number) => number) => Answer>> = {
  'claude-seat': (ms, random) => {
    const since = ((ms - DAY) / MINUTE + 120) % 300;
    return { status: 200, headers: seatHeaders(ms, Math.min(0.9, since / 400 + random(9) / 100)) };
  },
  'claude-key': (ms, random) => ({ status: 200, headers: keyHeaders(ms, 7000 - random(3000)) }),
  'gpt-main': (ms, random) => ({
    status: 200,
    headers: common(ms, {
      'x-ratelimit-limit-requests': '500',
      'x-ratelimit-remaining-requests': String(499 - random(60)),
      'x-ratelimit-reset-requests': '120ms',
      'x-ratelimit-limit-tokens': '30000',
      'x-ratelimit-remaining-tokens': String(29_000 - random(9000)),
      'x-ratelimit-reset-tokens': `${2 + random(9)}s`,
    }),
  }),
  'gemini-free': (ms) => ({ status: 200, headers: common(ms, { server: 'scaffolding on HTTPServer2' }) }),
  'azure-eu': (ms, random) => ({
    status: 200,
    headers: common(ms, {
      'x-ratelimit-remaining-tokens': String(90_000 - random(40_000)),
      'x-ratelimit-remaining-requests': String(580 - random(80)),
      'x-ms-region': 'West Europe',
    }),
  }),
};

const fiveHours = (ms: number): Answer => ({
  status: 429,
  headers: seatHeaders(ms, 1, true),
  body: claudeError(
    'rate_limit_error',
    "This request would exceed your account's rate limit. Please try again later.",
    ms,
  ),
});
const outputTokens = (ms: number): Answer => ({
  status: 429,
  headers: keyHeaders(ms, 0),
  body: claudeError(
    'rate_limit_error',
    "This request would exceed your organization's rate limit of 8,000 output tokens per minute.",
    ms,
  ),
});
const overloaded = (ms: number): Answer => ({
  status: 529,
  headers: common(ms, { 'x-should-retry': 'true' }),
  body: claudeError('overloaded_error', 'Overloaded', ms),
});
const tokensPerMinute = (ms: number): Answer => ({
  status: 429,
  headers: common(ms),
  body: {
    error: {
      message:
        'Rate limit reached for gpt-4o in organization org-abc on tokens per min (TPM): Limit 30000, Used 29000, Requested 21000. Please try again in 41.724s. Visit https://platform.openai.com/account/rate-limits to learn more.',
      type: 'tokens',
      param: null,
      code: 'rate_limit_exceeded',
    },
  },
});
const tooLong = (ms: number): Answer => ({
  status: 400,
  headers: common(ms),
  body: {
    error: {
      message: "This model's maximum context length is 128000 tokens.",
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    },
  },
});
const cdnPage = (ms: number): Answer => ({
  status: 502,
  headers: {
    date: new Date(ms).toUTCString(),
    'content-type': 'text/html',
    server: 'cloudflare',
    'cf-ray': 'a1b2c3-FRA',
  },
  body: '<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center><hr><center>cloudflare</center></body></html>',
});
const timedOut = (): Answer => ({ status: null, error: 'ETIMEDOUT' });
const quotaOf =
  (period: 'Day' | 'Minute') =>
  (ms: number): Answer => ({
    status: 429,
    headers: common(ms, { server: 'scaffolding on HTTPServer2' }),
    body: {
      error: {
        code: 429,
        message: 'You exceeded your current quota, please check your plan and billing details.',
        status: 'RESOURCE_EXHAUSTED',
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
            violations: [
              {
                quotaMetric: 'generativelanguage.googleapis.com/generate_content_free_tier_requests',
                quotaId: `GenerateRequestsPer${period}PerProjectPerModel-FreeTier`,
                quotaDimensions: { location: 'global', model: 'gemini-2.5-pro' },
              },
            ],
          },
          { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '36s' },
        ],
      },
    },
  });
const sevenSeconds = (ms: number): Answer => ({
  status: 429,
  headers: common(ms, { 'retry-after': '7', 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '7' }),
  body: {
    error: {
      message:
        'Requests to the ChatCompletions_Create Operation have exceeded token rate limit. Please retry after 7 seconds.',
      code: '429',
    },
  },
});
const revoked = (ms: number): Answer => ({
  status: 401,
  headers: common(ms, { 'x-ms-region': 'West Europe' }),
  body: {
    error: { code: '401', message: 'Access denied due to invalid subscription key or wrong API endpoint.' },
  },
});

/** In these times an upstream answers so, whenever it is asked; and it is asked at these instants beside the others. */
const TROUBLE: readonly [upstream: string, from: string, to: string, answer: (ms: number) => Answer, also: string[]][] =
  [
    ['gemini-free', '03:12:40', '07:00:00', quotaOf('Day'), ['03:12:40', '03:12:43', '03:12:49']],
    ['claude-key', '06:20:10', '06:20:20', outputTokens, ['06:20:10', '06:20:12']],
    ['azure-eu', '08:30:05', '08:30:12', sevenSeconds, ['08:30:05', '08:30:06', '08:30:08']],
    ['claude-seat', '09:41:20', '13:00:00', fiveHours, ['09:41:20', '09:41:23']],
    ['claude-key', '10:10:31', '10:10:43', outputTokens, ['10:10:31', '10:10:33', '10:10:34']],
    ['gpt-main', '11:15:00', '11:15:40', tokensPerMinute, ['11:15:00', '11:15:02', '11:15:03']],
    ['gpt-main', '14:05:30', '14:05:31', tooLong, ['14:05:30']],
    ['claude-key', '15:02:00', '15:14:00', overloaded, ['15:02:00', '15:02:03', '15:03:10', '15:05:30', '15:09:20']],
    ['claude-seat', '15:02:00', '15:14:00', overloaded, ['15:02:02', '15:04:15', '15:07:00', '15:12:40']],
    ['gemini-free', '16:20:15', '16:20:40', quotaOf('Minute'), ['16:20:15', '16:20:17']],
    ['azure-eu', '17:05:00', '24:00:00', revoked, ['17:05:00', '17:05:04']],
    ['gpt-main', '19:30:10', '19:33:00', cdnPage, ['19:30:10', '19:30:12', '19:31:20', '19:32:30']],
    ['gpt-main', '21:10:00', '21:10:01', timedOut, ['21:10:00']],
  ];
/** Asked then too: whoever watched saw that it works again. */
const BACK: readonly [upstream: string, ...times: string[]][] = [
  ['gemini-free', '07:01:10', '07:02:20', '07:03:30', '07:05:00', '16:21:30'],
  ['claude-key', '06:20:50', '10:11:20', '15:19:10', '15:19:40', '15:20:10', '15:20:40'],
  ['azure-eu', '08:30:30'],
  ['claude-seat', '13:00:40', '15:19:20', '15:20:20'],
  ['gpt-main', '11:16:10', '11:17:00', '19:35:00', '19:35:30', '19:36:00', '19:36:30', '21:12:00'],
];
/** How far apart requests are where nothing happens. */
const EVERY = 26 * MINUTE;

function askedAt(upstream: string, random: (most: number) => number): number[] {
  const regular = Array.from(
    { length: Math.floor((24 * 60 * MINUTE) / EVERY) },
    (_, index) => DAY + index * EVERY + random(20 * MINUTE),
  );
  const extra = [
    ...TROUBLE.filter(([whose]) => whose === upstream).flatMap(([, , , , also]) => also),
    ...BACK.filter(([whose]) => whose === upstream).flatMap(([, ...times]) => times),
  ].map((time) => on(time) + random(400));
  return [...regular, ...extra];
}

function lineOf(upstream: string, { ms, first }: At, random: (most: number) => number): Line {
  const trouble = TROUBLE.find(([whose, from, to]) => {
    const end = to === '24:00:00' ? DAY + 86_400_000 : on(to);
    return whose === upstream && ms >= on(from) && ms < end;
  });
  const answer = trouble ? trouble[3](ms) : success[upstream]!(ms, random);
  // A refusal is quick, and four seconds of it were under way together.
  const elapsedMs = answer.error ? 60_000 : trouble ? 4000 + random(400) : 900 + random(9000);
  return {
    at: iso(ms),
    upstream,
    ...(first && ACCOUNTS[upstream]),
    model: MODELS[upstream],
    ...answer,
    elapsedMs,
  };
}

/** JSON lines in the order of time. */
export function recordedDay(): string {
  const lines = Object.keys(ACCOUNTS).flatMap((upstream, index) => {
    const random = uneven(index + 7);
    const instants = askedAt(upstream, random).sort((one, other) => one - other);
    return instants.map((ms, nth) => lineOf(upstream, { ms, first: nth === 0 }, random));
  });
  lines.sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
}
