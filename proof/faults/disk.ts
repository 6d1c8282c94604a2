// A small disk that can be full: a tmpfs whose size is taken down to what is used, and given back.
import { spawnSync } from 'node:child_process';
import { mkdirSync, statfsSync } from 'node:fs';

/** What a full disk still takes: less than one extension of a table. */
const LEFT = 4096;
const SIZE = '2g';

const mount = (...args: string[]) => spawnSync('mount', args, { encoding: 'utf8' });

export class SmallDisk {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** A reason instead of a disk where none can be made: it takes root, Linux, and the right to mount. */
  static make(folder: string): SmallDisk | string {
    if (process.platform !== 'linux') return 'a small disk can be made on Linux only';
    if (process.getuid?.() !== 0) return 'only root may mount a small disk';
    mkdirSync(folder, { mode: 0o755 });
    const { status, stderr, error } = mount('-t', 'tmpfs', '-o', `size=${SIZE},mode=755`, 'recoup-faults', folder);
    if (status === 0) return new SmallDisk(folder);
    return `the small disk could not be mounted: ${(error?.message ?? stderr).trim()}`;
  }

  /** From now on a write that needs room fails. False where the kernel does not let it. */
  fill(): boolean {
    const { blocks, bfree, bsize } = statfsSync(this.folder);
    return mount('-o', `remount,size=${(blocks - bfree) * bsize + LEFT}`, this.folder).status === 0;
  }

  free(): void {
    mount('-o', `remount,size=${SIZE}`, this.folder);
  }

  remove(): void {
    // Lazy: a process that is just ending may still have a file open.
    spawnSync('umount', ['-l', this.folder]);
  }
}
