// `recoup/worker`: the worker of `recoup.work()` over something else than a handle, such as a server that is asked over HTTP.
export { Worker, type WorkerContext, type WorkOptions } from './worker/worker.ts';
