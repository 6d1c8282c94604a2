// The child's end of a process of the demo: gets its task, answers questions, ends when the main process does.

export interface Ask {
  ask: number;
  question: string;
}
export interface Answer {
  ask: number;
  answer: unknown;
}

type Answers = Record<string, () => unknown>;

/** Runs a child: `start` gets the task and gives what the main process may ask for. */
export function serveParent<Task>(start: (task: Task) => Promise<Answers>): void {
  // The channel closes when the main process ends, however it ends: nothing of the demo outlives it.
  process.on('disconnect', () => process.exit(0));
  // Ctrl-C reaches every process of a terminal; the main process decides in which order they end.
  process.on('SIGINT', () => {});
  let answers: Promise<Answers> | undefined;
  process.on('message', async (message: { task: Task } | Ask) => {
    try {
      if ('task' in message) {
        answers = start(message.task);
        await answers;
        process.send!({ ask: 0, answer: 'ready' } satisfies Answer);
      } else {
        const answer = await (await answers!)[message.question]!();
        process.send!({ ask: message.ask, answer } satisfies Answer);
      }
    } catch (error) {
      // The main process sees the exit and says which process it was.
      console.error(error);
      process.exit(1);
    }
  });
}
