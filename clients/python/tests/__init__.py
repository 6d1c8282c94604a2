# The tests of the package; `packages/client/test/python.test.ts` starts the service for them.
