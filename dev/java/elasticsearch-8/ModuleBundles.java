import java.util.Set;

import org.elasticsearch.env.Environment;
import org.elasticsearch.plugins.PluginBundle;
import org.elasticsearch.plugins.PluginsLoader;

/** Reads the modules of an Elasticsearch 8 home. */
final class ModuleBundles {

    private ModuleBundles() {}

    static Set<PluginBundle> of(Environment environment) {
        return PluginsLoader.loadModulesBundles(environment.modulesDir());
    }
}
