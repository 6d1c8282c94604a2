import { answer } from './support/look.ts';
import { staging } from './support/stage.ts';
const { onFirst } = staging();
onFirst('probe', async (s) => {
  const wallet = await s.wallet(10);
  const k = { wallet, job: 'nope' };
  for (const key of [k, { wallet: 'nowhere', job: 'nope' }]) {
    console.log('succeed', await answer(s.recoup.jobs.succeed(key)), 'cancel', await answer(s.recoup.jobs.cancel(key)), 'settle', await answer(s.recoup.jobs.settle({ ...key, finalPrice: 1 })),
    'fail', await answer(s.recoup.jobs.fail({ ...key, attempt: 1 })), await answer(s.recoup.jobs.extend({ ...key, attempt: 1 })), await answer(s.recoup.jobs.release({ ...key, attempt: 1 })), await answer(s.recoup.jobs.handOver({ ...key, attempt: 1 })),
    await answer(s.recoup.jobs.deadLetters.redrive(key)), await answer(s.recoup.jobs.deadLetters.discard(key)), 'fp', await answer(s.recoup.jobs.succeed({...key, finalPrice: 3})));
  }
});
