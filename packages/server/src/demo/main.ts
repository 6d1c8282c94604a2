// `npm start`: the demo in a process of its own.
import { runProgram } from './program.ts';

const code = await runProgram(process.argv.slice(2), process.env.DATABASE_URL, process.env.RECOUP_PORT);
// What is still on its way to a pipe goes first.
process.stdout.write('', () => process.exit(code));
