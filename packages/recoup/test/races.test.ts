// Races on real connections, straight to the server.
import { races } from './support/races.ts';
import { staging } from './support/stage.ts';

races(staging().onEvery, async () => ({}));
