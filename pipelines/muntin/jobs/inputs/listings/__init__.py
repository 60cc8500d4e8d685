"""Which files a batch has, for each kind of source a module that is a `Listing`."""
